-- name: find
-- What has this name already, and whether it is the view that we put there. SQLite keeps the text of a view as it was.
select type, type = 'view' and lower(sql) = lower('create view ' || :name || ' as select * from ' || :view)
from sqlite_schema where lower(name) = lower(:name);

-- name: find_function
-- There are no functions in a database file.
select 'function', false where :name = :view and false;

-- name: own
select name from sqlite_schema where type = 'view' and name = :view and :function <> :view;
