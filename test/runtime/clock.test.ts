/** The clock of the sandbox: moved by requests, followed by the housekeeping of every process. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
// biome-ignore lint/style/noRestrictedImports: it is the clock under test
import { machineClock } from '#runtime/clock'
import { runs } from '#test/support/suite'

test('whatever a read and a move overtake, the clock never falls back behind a move', async () => {
  const actions = fc.array(fc.oneof(fc.constant('follow' as const), fc.integer({ min: 1, max: 99 })), {
    minLength: 2,
    maxLength: 8,
  })
  await fc.assert(
    fc.asyncProperty(actions, fc.scheduler(), async (all, scheduler) => {
      const clock = machineClock()
      let stored = 0
      let moved = 0
      const read = async () => {
        await scheduler.schedule(Promise.resolve(), 'asked')
        const seen = stored
        await scheduler.schedule(Promise.resolve(), 'answered')
        return seen
      }
      const store = async (offset: number) => {
        await scheduler.schedule(Promise.resolve(), 'sent')
        stored = offset
        await scheduler.schedule(Promise.resolve(), 'stored')
      }
      const running = all.map(async (action) => {
        await scheduler.schedule(Promise.resolve(), 'begins')
        if (action === 'follow') await clock.follow(read)
        else {
          moved += action
          await clock.move(action, store)
        }
        expect(clock.offset).toBe(moved)
      })
      await Promise.all([scheduler.waitFor(Promise.all(running))])
      expect([clock.offset, stored]).toEqual([moved, moved])
    }),
    runs(2000, 200),
  )
})

test('another process follows a move', async () => {
  const clock = machineClock()
  await clock.follow(async () => 5000)
  expect(clock.offset).toBe(5000)
})

test('after a move that could not be stored, the next one is', async () => {
  const clock = machineClock()
  const failing = clock.move(10, () => Promise.reject(new Error('no database')))
  const seen: number[] = []
  const next = clock.move(20, async (offset) => seen.push(offset))
  await expect(failing).rejects.toThrow('no database')
  await next
  expect([seen, clock.offset]).toEqual([[30], 30])
})
