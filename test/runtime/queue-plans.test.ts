/** What a worker asks is planned once, while the queue is empty, and kept: it must not cost more with each job that ended. */
import { expect, test } from 'vitest'
import { behindOthers, claim, completeRuns, putBackRun, touchRun } from '#runtime/jobs/statements'
import { testApp } from '#test/support/app'

const { database } = await testApp()

const asked = {
  claim: [claim, `array['some-job'], array[4], 4, 0`],
  behindOthers: [behindOthers, `array['some-job'], array[gen_random_uuid()]`],
  completeRuns: [completeRuns, `array['some-job'], array[gen_random_uuid()], array[0], array['1.5']`],
  touchRun: [touchRun, `'some-job', gen_random_uuid(), 0, '1.5'`],
  putBackRun: [putBackRun, `'some-job', gen_random_uuid(), 0, '1.5', 1`],
} as const

test.each(Object.entries(asked))('%s finds jobs by their keys', async (_name, [text, values]) => {
  const plan = await database.script<{ 'QUERY PLAN': string }>(
    `begin; set local plan_cache_mode = force_generic_plan; prepare asked as ${text};
     explain execute asked (${values}); deallocate asked; rollback`,
  )
  const lines = plan.map((row) => row['QUERY PLAN'])
  expect(lines.filter((line) => line.includes('Seq Scan'))).toEqual([])
  if (text === behindOthers) return
  // The rows that are written are reached by name and id, not by the name alone.
  const at = lines.findIndex((line) => /job_common_pkey on job_common j_1/.test(line))
  expect(lines[at + 1]).toMatch(/Index Cond: \(\(name = .*\) AND \(id = /)
})
