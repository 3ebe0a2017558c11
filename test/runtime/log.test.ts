/** Lines of the log leave together, all of them, in their order. */
import { afterEach, expect, test, vi } from 'vitest'
import { HeldLines } from '#runtime/log'

afterEach(() => {
  vi.useRealTimers()
})

/** What was sent, a text for each write; `finish` tells of the oldest that it was written. */
function output() {
  const writes: string[] = []
  const open: (() => void)[] = []
  const lines = new HeldLines((bytes, done) => {
    // Read late, as a slow reader would: what was handed over must not change meanwhile.
    open.push(() => {
      writes.push(bytes.toString())
      done()
    })
  })
  const finish = (): void => {
    for (const each of open.splice(0)) each()
  }
  return { lines, writes, finish }
}

test('held for a moment, then in one write', () => {
  vi.useFakeTimers()
  const { lines, writes, finish } = output()
  lines.writeAscii('one\n')
  lines.write('zwei, drei: ações 🎉\n')
  finish()
  expect(writes).toEqual([])
  vi.advanceTimersByTime(250)
  finish()
  expect(writes).toEqual(['one\nzwei, drei: ações 🎉\n'])
  vi.advanceTimersByTime(1000)
  lines.flush()
  finish()
  expect(writes).toHaveLength(1)
})

test('however many and however long, none is lost or moved', () => {
  const { lines, writes, finish } = output()
  const written: string[] = []
  for (let n = 0; n < 5000; n += 1) {
    const line = n === 2500 ? `${'ç'.repeat(50_000)}\n` : `${n} ${'ç'.repeat(n % 90)}\n`
    written.push(line)
    if (n % 90 === 0) lines.writeAscii(`${n} \n`)
    else lines.write(line)
    if (n % 700 === 0) finish()
  }
  lines.flush()
  finish()
  expect(writes.length).toBeGreaterThan(3)
  expect(writes.length).toBeLessThan(20)
  expect(writes.join('')).toBe(written.join(''))
})
