// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** Our only statements that name a table of pg-boss. They only read, and pg-boss's API has no such queries. */

/**
 * Waiting jobs of these keys. pg-boss's `findJobs` by key would read every waiting job of the queue; this statement
 * uses the index of the policy `short`. Each row is locked, so that no worker claims the job before the caller's data
 * is committed. Upstream: https://github.com/timgit/pg-boss/pull/596 (open). Parameters: queue, keys, seconds from now.
 */
export const waitingByKeys = `select id, coalesce(data ->> 'jobId', id::text) as "jobId",
    start_after > now() + ($3::float8 + 1) * interval '1 second' as "isLater"
  from pgboss.job
  where name = $1 and coalesce(singleton_key, '') = any($2::text[]) and state = 'created' and policy = 'short'
  order by id for key share`

/**
 * Running jobs of all workers, in the order of their start. pg-boss's `findJobs` cannot filter by state. Its policies
 * that allow one running job per key delay the next job for up to a minute, so we check that ourselves. Upstream:
 * https://github.com/timgit/pg-boss/issues/612. Parameters: queues.
 */
export const runningJobs = `select name as queue, id, singleton_key as key
  from pgboss.job
  where name = any($1::text[]) and state = 'active' and group_id is not null
  order by started_on, id`

/**
 * For each queue the numbers of waiting jobs, due jobs, requeued jobs that become due within `$2` seconds, and running
 * jobs, and how long the oldest due job has been due. The counts of `getQueues` are some seconds old and have no such
 * age. Upstream:
 * https://github.com/timgit/pg-boss/issues/269 (open). Parameters: queues, seconds.
 */
export const backlogs = `select q.name as queue, w.waiting, w.due, w.requeued, w."lagSeconds", r.running
  from unnest($1::text[]) as q(name)
  cross join lateral (
    select count(*)::int as waiting, count(*) filter (where start_after <= now())::int as due,
      count(*) filter (where start_after > now() and start_after <= now() + $2::float8 * interval '1 second'
        and data ->> 'jobId' is not null)::int as requeued,
      extract(epoch from now() - min(start_after) filter (where start_after <= now()))::float8 as "lagSeconds"
    from pgboss.job where name = q.name and state < 'active' and not blocked) as w
  cross join lateral (
    select count(*)::int as running from pgboss.job
    where name = q.name and state = 'active' and group_id is not null) as r`
