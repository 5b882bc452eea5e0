-- name: add
insert into weather_readings (tenant, station, degrees, unit, at)
values (:tenant, :station, :degrees, :unit, haulwright_now(:now));

-- name: list
select tenant, station, degrees, unit from weather_readings
where cast(:tenant as text) is null or tenant = :tenant
order by id limit :limit;

-- name: forget
delete from weather_readings where tenant = :tenant and station = :station returning id;
