# SPDX-License-Identifier: Apache-2.0
"""Where the models of a contest are measured: on this machine, or on a board over SSH."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from referee.errors import ConfigError, InputError, Unavailable
from referee.extras.ovic.judging.benchmark import Measure, Place, here
from referee.extras.ovic.judging.board.address import BoardAddress, parse_address
from referee.extras.ovic.judging.board.board import on_board
from referee.extras.ovic.section import ovic_of
from referee.service.setup.config import Config

_log = logging.getLogger(__name__)


def board_of(config: Config) -> BoardAddress | None:
    """Return the board that the configuration names, or None; raise `ConfigError` for half one."""
    section = ovic_of(config)
    if section.board is None:
        for key in ("board_identity", "board_known_hosts"):
            if getattr(section, key) is not None:
                raise ConfigError(
                    f"[ovic] {key} needs a board: give board as well.", path=config.path
                )
        return None
    try:
        host, user, port = parse_address(section.board)
    except InputError as error:
        raise ConfigError(f"[ovic] board: {error}.", path=config.path) from error
    return BoardAddress(
        host,
        user,
        port,
        section.board_identity,
        section.board_known_hosts,
        section.board_python,
    )


def place_of_contest(config: Config) -> Place:
    """Return where the contest's models are measured."""
    board = board_of(config)
    return here if board is None else partial(_reached, board)


@contextmanager
def _reached(board: BoardAddress) -> Iterator[Measure]:
    """Connect to the board; raise `InputError` without one, which no model can have caused."""
    with ExitStack() as stack:
        try:
            measure = stack.enter_context(on_board(board, _log.warning))
        except Unavailable as error:
            raise InputError(str(error)) from error
        yield measure
