-- SPDX-License-Identifier: Apache-2.0
-- What sessions were run with stays while there are sessions: images, classes and input files. Only
-- the files' places may change, because somebody may move or copy a contest.
create trigger images_no_update before update of
    image_id, source_id, media_type, size_bytes, sha256, width, height on images
when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger images_no_delete before delete on images when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger images_no_insert before insert on images when exists (select 1 from sessions)
begin
    select raise(abort, 'images stay as they are while there are sessions');
end;

create trigger classes_no_update before update on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger classes_no_delete before delete on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger classes_no_insert before insert on classes when exists (select 1 from sessions)
begin
    select raise(abort, 'classes stay as they are while there are sessions');
end;

create trigger inputs_no_update before update of name, sha256 on inputs
when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;

create trigger inputs_no_delete before delete on inputs when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;

create trigger inputs_no_insert before insert on inputs when exists (select 1 from sessions)
begin
    select raise(abort, 'input files stay as they are while there are sessions');
end;
