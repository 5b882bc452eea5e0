create table weather_readings (
    id      bigint generated always as identity primary key,
    tenant  text             not null,
    station text             not null,
    degrees double precision not null,
    unit    text             not null,
    at      bigint           not null
);
