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
 * As pg-boss claims jobs of our policies. Its own statement has the name and the number in its text and answers every
 * column: planned anew for each queue, it takes four times as long. The name comes along with the id: said as `$1` again,
 * the plan made while the table is empty would read all that the queue ever had.
 * Name, at most so many, the lowest priority.
 */
export const claim = `with next as (
    select j.name, j.id from pgboss.job j
    where j.name = $1 and j.state < 'active' and not j.blocked and j.start_after <= now() and j.priority >= $3
    order by j.priority desc, j.created_on limit $2 for update of j skip locked)
  update pgboss.job j set state = 'active', started_on = now(), heartbeat_on = now(),
    retry_count = case when j.started_on is not null then j.retry_count + 1 else j.retry_count end
  from next where j.name = next.name and j.id = next.id
  returning j.id, j.data, j.retry_count as "retryCount", ${begunAt} as "begunAt",
    j.retry_limit as "retryLimit", j.priority,
    j.singleton_key as "singletonKey", j.singleton_key is not null and exists (
      select 1 from pgboss.job other where other.name = $1 and other.singleton_key = j.singleton_key
        and other.state <= 'active' and other.id <> j.id) as "mayBeBehind",
    j.source_name as "sourceName", j.source_id as "sourceId", j.source_output as "sourceOutput"`

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
