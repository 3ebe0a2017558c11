/** The look for due jobs beside what it means, over random queues. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueQueues } from '#runtime/jobs/statements'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { runs } from '#test/support/suite'

const { database } = await freshDatabase()
whenFileEnds(() => database.close())
const [{ names } = { names: [] }] = await database.query<{ names: string[] }>(
  'select array(select name from pgboss.queue order by name limit 6) as names',
  [],
)

interface Row {
  queue: number
  state: 'created' | 'retry' | 'active' | 'completed' | 'failed'
  priority: number
  /** From now; far enough that none comes due meanwhile. */
  seconds: number
  begun: boolean
}

const row: fc.Arbitrary<Row> = fc.record({
  queue: fc.nat(5),
  state: fc.constantFrom('created', 'retry', 'active', 'completed', 'failed'),
  priority: fc.constantFrom(-1, 0, 5),
  seconds: fc.constantFrom(-600, 600, 90_000),
  begun: fc.boolean(),
})

const putBackSeconds = 3600

function meant(rows: readonly Row[], asked: readonly number[], orUnfinished: boolean) {
  return asked.flatMap((queue) => {
    const own = rows.filter((each) => each.queue === queue)
    const due = own.filter(({ state, seconds }) => ['created', 'retry'].includes(state) && seconds <= 0)
    const isAwaited = due.some(({ priority }) => priority >= 0)
    const isInBackground = due.some(({ priority }) => priority < 0)
    const isUnfinished =
      due.length > 0 ||
      own.some(({ state }) => state === 'active') ||
      own.some(({ state, seconds, begun }) => state === 'retry' && !begun && seconds <= putBackSeconds)
    return due.length > 0 || (orUnfinished && isUnfinished)
      ? [{ name: names[queue]!, isAwaited, isInBackground }]
      : []
  })
}

test('it finds the queues that have one due, in the order asked, and the unfinished ones where they are wanted', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 25 }),
      fc.shuffledSubarray([0, 1, 2, 3, 4, 5]),
      fc.boolean(),
      async (rows, asked, orUnfinished) => {
        await database.query('delete from pgboss.job', [])
        await database.query(
          // biome-ignore lint/plugin/clock: pg-boss dates its jobs by the database's own clock
          `insert into pgboss.job (id, name, state, priority, start_after, started_on, policy)
           select gen_random_uuid(), name, state::pgboss.job_state, priority, now() + seconds * interval '1 second',
             case when begun then now() end, 'standard'
           from jsonb_to_recordset($1::jsonb) as r(name text, state text, priority int, seconds int, begun boolean)`,
          [JSON.stringify(rows.map(({ queue, ...rest }) => ({ name: names[queue], ...rest })))],
        )
        const found = await database.query(
          dueQueues,
          [asked.map((queue) => names[queue]), orUnfinished, putBackSeconds],
          'once',
        )
        expect(found).toEqual(meant(rows, asked, orUnfinished))
      },
    ),
    runs(150),
  )
})
