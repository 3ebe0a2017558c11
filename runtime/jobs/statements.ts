// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** What the queue asks of pg-boss's tables by itself: constant texts, planned once for all queues. */

const unfinished = (
  seconds: string,
): string => `(j.state = 'active' or (j.state < 'active' and j.start_after <= now())
  or (j.state = 'retry' and j.started_on is null and j.start_after <= now() + ${seconds}::float8 * interval '1 second'))`

const waits = `j.state < 'active' and not j.blocked`

/** One of a queue, by the index that has those that wait alone: `exists` of many queues would be read as one list of all. */
const oneThatIsDue = (priorities: string): string => `left join lateral (
    select true as "is" from pgboss.job j
    where j.name = q.name and ${waits} and j.start_after <= now() and j.priority ${priorities} limit 1)`

/**
 * Names; whether those with an unfinished job are wanted too, and how long one may be put back for. From one queue that
 * has something to the next, so that it costs as little where a hundred thousand wait, or a hundred queues are empty.
 * `not blocked` is true of all, and said for the index.
 */
export const dueQueues = `with recursive waiting as (
    (select j.name from pgboss.job j where ${waits} order by j.name limit 1)
    union all
    select (select j.name from pgboss.job j where ${waits} and j.name > w.name order by j.name limit 1)
    from waiting w where w.name is not null),
  due as materialized (
    select q.name, awaited."is" is not null as "isAwaited", background."is" is not null as "isInBackground"
    from waiting q
    ${oneThatIsDue('>= 0')} as awaited on true
    ${oneThatIsDue('< 0')} as background on true
    where q.name = any($1::text[]) and (awaited."is" or background."is"))
  select * from (
    select * from due
    union all
    select q.name, false, false from unnest($1::text[]) as q(name)
    cross join lateral (
      select from pgboss.job j where j.name = q.name and ${unfinished('$3')} limit 1) as one
    where $2::boolean and q.name not in (select name from due)) as found
  order by array_position($1::text[], name)`

export const unfinishedJobs = `select count(*)::int as jobs from pgboss.job j
  where j.name = any($1::text[]) and ${unfinished('$2')}`

/** When a run was claimed, to the microsecond, whatever the session's zone and style of dates. */
const begunAt = 'extract(epoch from j.started_on)::text'

/**
 * As pg-boss queues a job, of whichever queues at once: its own statement has the name in its text, and is planned anew
 * for each queue. In the order given, or two that ask for the same keys would wait for each other. Of those that cannot be
 * there twice it answers the ones that it has queued.
 * Ids, names, data, instants (null: now), keys, priorities, seconds that they are kept when done (null: as their queue says).
 */
export const enqueue = `insert into pgboss.job (id, name, data, start_after, singleton_key, priority, created_on,
    deletion_seconds, keep_until, expire_seconds, heartbeat_seconds, retry_limit, retry_delay, retry_backoff,
    retry_delay_max, policy, dead_letter)
  select j.id, j.name, j.data::jsonb, at.start_after, j.singleton_key, j.priority, now(),
    coalesce(j.deletion_seconds, q.deletion_seconds), at.start_after + q.retention_seconds * interval '1 second',
    q.expire_seconds, q.heartbeat_seconds, q.retry_limit, q.retry_delay, coalesce(q.retry_backoff, false),
    q.retry_delay_max, q.policy, q.dead_letter
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::int[])
    with ordinality as j(id, name, data, start_after, singleton_key, priority, deletion_seconds, nth)
  cross join lateral (select coalesce(j.start_after::timestamptz, now()) as start_after) as at
  join pgboss.queue q on q.name = j.name
  order by j.nth
  on conflict do nothing
  returning id`

/**
 * As pg-boss claims jobs of our policies, from one queue to the next until there are enough. Its own statement has the
 * name and the number in its text and answers every column: planned anew for each queue, it takes four times as long.
 * Names, at most so many of each, of all, the lowest priority.
 */
export const claim = `with next as (
    select due.name, due.id from unnest($1::text[], $2::int[]) as q(name, at_most)
    cross join lateral (
      select j.name, j.id from pgboss.job j
      where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now() and j.priority >= $4
      order by j.priority desc, j.created_on limit q.at_most for update of j skip locked) as due
    limit $3)
  update pgboss.job j set state = 'active', started_on = now(), heartbeat_on = now(),
    retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
  from next where j.name = next.name and j.id = next.id
  returning j.name, j.id, j.data, j.retry_count as "retryCount", ${begunAt} as "begunAt",
    j.retry_limit as "retryLimit", j.priority,
    j.singleton_key as "singletonKey", j.singleton_key is not null and exists (
      select 1 from pgboss.job other where other.name = j.name and other.singleton_key = j.singleton_key
        and other.state <= 'active' and other.id <> j.id) as "mayBeBehind",
    j.source_name as "sourceName", j.source_id as "sourceId", j.source_output as "sourceOutput"`

/** The ids of those of these running jobs, by name and id, before which another of their key began. */
export const behindOthers = `select mine.id
  from (select * from unnest($1::text[], $2::uuid[]) limit cardinality($1::text[])) as m(name, id)
  join pgboss.job mine on mine.name = m.name and mine.id = m.id
  where exists (
    select 1 from pgboss.job j where j.name = mine.name and j.singleton_key = mine.singleton_key
      and j.state = 'active' and (j.started_on, j.id) < (mine.started_on, mine.id))`

/**
 * Each by the run that it was: what is another's by now stays. The limit, which is none, makes them few for the planner,
 * and the state as a text fits no index: the plan made while the table is empty would read all of it, for ever.
 */
export const completeRuns = `update pgboss.job j set state = 'completed', completed_on = now(), output = null
  from (select * from unnest($1::text[], $2::uuid[], $3::int[], $4::text[]) limit cardinality($1::text[]))
    as ended(name, id, retry_count, begun_at)
  where j.name = ended.name and j.id = ended.id and j.retry_count = ended.retry_count
    and ${begunAt} = ended.begun_at and j.state::text = 'active'`

/** Name, id, tries and claim of a run that has its job still. What was put back and claimed anew has the same tries. */
const isTheRun = `j.name = $1 and j.id = $2::uuid and j.retry_count = $3::int and ${begunAt} = $4::text
  and j.state::text = 'active'`

const inSeconds = `now() + $5::float8 * interval '1 second'`

export const touchRun = `update pgboss.job j set heartbeat_on = now() where ${isTheRun} returning j.id`

/**
 * For so many seconds. As `retry`, of which a key may have one beside the one that waits; its tries stay uncounted. It is
 * due later than it was claimed, on a clock that stands still too: so its next claim is no other's twin.
 */
export const putBackRun = `update pgboss.job j set state = 'retry', started_on = null, heartbeat_on = null,
    start_after = case when ${inSeconds} > j.started_on then ${inSeconds}
      else j.started_on + interval '1 microsecond' end
  where ${isTheRun}`
