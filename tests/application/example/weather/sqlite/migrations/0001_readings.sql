create table weather_readings (
    id      integer primary key,
    tenant  text    not null,
    station text    not null,
    degrees real    not null,
    unit    text    not null,
    at      integer not null
);
