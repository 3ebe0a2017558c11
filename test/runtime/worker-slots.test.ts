/** How a worker distributes its slots over the queues. */
import { expect, test } from 'vitest'
import type { QueueName } from '#runtime/jobs/boss'
import { WorkerSlots } from '#runtime/jobs/worker-slots'

const all: readonly QueueName[] = ['failed-jobs', 'maintenance', 'bulk', 'scheduled', 'interactive']

/** Fills free slots, like one poll if every queue has enough jobs. */
function look(places: WorkerSlots, running: QueueName[], queues = all): void {
  for (const [queue, atMost] of places.claimOrder) {
    const room = Math.max(0, places.countFree(queue, atMost, running))
    if (room === 0 || !queues.includes(queue)) continue
    running.push(...Array<QueueName>(room).fill(queue))
    places.recordClaim(queue)
  }
}

const background = all.filter((queue) => queue !== 'interactive')

test.each([4, 8])('a quarter of %i slots is reserved for interactive jobs', (atOnce) => {
  const running: QueueName[] = []
  const places = new WorkerSlots(atOnce)
  look(places, running, background)
  expect(running).toHaveLength((3 * atOnce) / 4)
  look(places, running)
  expect(running.filter((queue) => queue === 'interactive')).toHaveLength(atOnce / 4)
})

test.each([4, 8])('each queue gets one of %i slots in turn, however busy the others are', (atOnce) => {
  const running: QueueName[] = []
  const places = new WorkerSlots(atOnce)
  const seen = new Set<QueueName>()
  for (let ended = 0; ended < 2 * atOnce; ended += 1) {
    look(places, running, background)
    for (const queue of running) seen.add(queue)
    running.shift()
  }
  expect(seen).toEqual(new Set(background))
})

test('scheduled jobs may use two quarters if they are free', () => {
  const running: QueueName[] = []
  look(new WorkerSlots(8), running, ['scheduled'])
  expect(running).toHaveLength(4)
})
