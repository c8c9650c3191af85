-- SPDX-License-Identifier: Apache-2.0
-- Games of chess in the breaks; a row is a fact, as all rows of the event are.
create table chess_games (
    game_id integer primary key autoincrement,
    white text not null,
    black text not null
) strict;
