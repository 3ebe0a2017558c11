/** The first process of an empty database creates the queues itself. */
import { expect, test } from 'vitest'
import { migrate } from '#db/migrate'
import { openPglite } from '#db/open'
import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { openQueue } from '#runtime/jobs/queue'
import { object } from '#runtime/schema'
import { frozenClock } from '#test/support/test-clock'

const first = serverJob(handle('test-first', object({})), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  everySeconds: 60,
  safeTwice: 'It does nothing.',
  run: async () => {},
})

test('a job is queued within the first transaction that there is', async () => {
  const database = await openPglite({})
  await migrate(database)
  const queue = await openQueue(database, [first], frozenClock(), {
    supervise: false,
    onError: (error) => expect.unreachable(error.message),
  })
  await database.root.transaction().execute((tx) => queue.sendServerJobs([first.handle], tx))
  expect(await queue.fetch('maintenance', 1)).toMatchObject([{ name: 'test-first' }])
  await queue.stop()
  await database.close()
})
