/** Queries of the queue's tables cost no more with each stored job. */
import { expect, test } from 'vitest'
import { backlogs, runningJobs, waitingByKeys } from '#runtime/jobs/statements'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'

const { database } = await freshDatabase()
whenFileEnds(() => database.close())
await database.query(
  `insert into pgboss.job (id, name, state, singleton_key, policy, data, group_id, started_on, completed_on)
   select gen_random_uuid(), 'interactive', 'completed', 'kept ' || n, 'short', '{}', 'store', '2026-01-01', '2026-01-01'
   from generate_series(1, 5000) as n`,
  [],
)
await database.query('analyze pgboss.job_common', [])

test.each([
  ['the job of a key that waits', waitingByKeys, `'interactive', array['kept 1'], 0`],
  ['what runs', runningJobs, `array['interactive']`],
  ['what is due', backlogs, `array['interactive'], 5`],
])('%s is found by an index', async (_what, text, values) => {
  const plan = await database.script<{ 'QUERY PLAN': string }>(
    `begin; set local plan_cache_mode = force_generic_plan; prepare asked as ${text};
     explain execute asked (${values}); deallocate asked; rollback`,
  )
  const lines = plan.map((row) => row['QUERY PLAN'])
  expect(lines.filter((line) => line.includes('Seq Scan'))).toEqual([])
  expect(lines.join('\n')).toMatch(/job_common_i/)
})
