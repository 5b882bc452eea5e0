-- Nothing here: a file has no partitions, and what is past its time is removed in batches. The numbers of the two chains go
-- together.
select 1;
