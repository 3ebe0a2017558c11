/** How a worker gives its places to the queues. */
import { expect, test } from 'vitest'
import type { QueueName } from '#runtime/jobs/boss'
import { Places } from '#runtime/jobs/places'

const all: readonly QueueName[] = ['failed-jobs', 'maintenance', 'bulk', 'scheduled', 'interactive']

/** Fills what is free, as one look does where every queue has enough. */
function look(places: Places, running: QueueName[], queues = all): void {
  for (const [queue, atMost] of places.inOrder) {
    const room = Math.max(0, places.room(queue, atMost, running))
    if (room === 0 || !queues.includes(queue)) continue
    running.push(...Array<QueueName>(room).fill(queue))
    places.given(queue)
  }
}

const background = all.filter((queue) => queue !== 'interactive')

test.each([4, 8])('of %i places a quarter is left for what somebody waits for', (atOnce) => {
  const running: QueueName[] = []
  const places = new Places(atOnce)
  look(places, running, background)
  expect(running).toHaveLength((3 * atOnce) / 4)
  look(places, running)
  expect(running.filter((queue) => queue === 'interactive')).toHaveLength(atOnce / 4)
})

test.each([4, 8])('of %i places each queue gets one in turn, however much the others have', (atOnce) => {
  const running: QueueName[] = []
  const places = new Places(atOnce)
  const seen = new Set<QueueName>()
  for (let ended = 0; ended < 2 * atOnce; ended += 1) {
    look(places, running, background)
    for (const queue of running) seen.add(queue)
    running.shift()
  }
  expect(seen).toEqual(new Set(background))
})

test('what the clock queued may have two quarters where they are free', () => {
  const running: QueueName[] = []
  look(new Places(8), running, ['scheduled'])
  expect(running).toHaveLength(4)
})
