-- The operations of one document, found without reading those of the others.
create index documents_operations_job on documents_operations (tenant, job_id);
