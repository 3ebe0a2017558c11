// biome-ignore-all lint/nursery/noJsRestrictedProperties: both are vitest's here, and stand still
// biome-ignore-all lint/plugin/clock: both are vitest's here, and stand still
/** Log lines are written together, complete and in order. */
import { afterEach, expect, test, vi } from 'vitest'
import { LineBuffer, openLogInto, RequestLines } from '#runtime/server/log'

afterEach(() => {
  vi.useRealTimers()
})

/** The written texts, one per write; `finish` completes all pending writes. */
function output() {
  const writes: string[] = []
  const open: (() => void)[] = []
  const lines = new LineBuffer((bytes, done) => {
    // Read late, as by a slow reader: the buffer must not change meanwhile.
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

test('lines are held for a moment, then written at once', () => {
  vi.useFakeTimers()
  const { lines, writes, finish } = output()
  lines.write('one\n')
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

test('however many and however long, no line is lost or reordered', () => {
  const { lines, writes, finish } = output()
  const written: string[] = []
  for (let n = 0; n < 5000; n += 1) {
    const line = n === 2500 ? `${'ç'.repeat(50_000)}\n` : `${n} ${'ç'.repeat(n % 90)}\n`
    written.push(line)
    if (n % 90 === 0) {
      lines.begin(20)
      lines.ascii(String(n))
      lines.part(Buffer.from(' \n'))
    } else lines.write(line)
    if (n % 700 === 0) finish()
  }
  lines.flush()
  finish()
  expect(writes.length).toBeGreaterThan(3)
  expect(writes.length).toBeLessThan(20)
  expect(writes.join('')).toBe(written.join(''))
})

test('a request is a line of JSON with its time, whatever was cached for the previous one', () => {
  vi.useFakeTimers({ now: new Date('2026-11-21T10:00:00.123Z') })
  const { lines, writes, finish } = output()
  const requests = new RequestLines(lines)
  const line = { requestId: 'abc-1', method: 'GET', operation: 'get_reviews', store: 's1', key: 'k1' }
  const expected: object[] = []
  const write = (changed: Partial<typeof line>, status: number, ms: number, shown: number): void => {
    requests.write({ ...line, ...changed, status, ms, endedAt: performance.now(), trace: null })
    expected.push({ level: 30, time: new Date().toISOString(), ...line, ...changed, status, ms: shown })
  }
  write({}, 200, 0, 0)
  write({}, 404, 0.994, 0.99)
  write({ key: 'k2' }, 200, 0.996, 1)
  vi.advanceTimersByTime(1)
  write({ method: 'HEAD' }, 200, 9.999, 10)
  write({ operation: 'unknown', store: 's2', key: 'k3' }, 404, 12_345.678, 12_345.68)
  requests.write({
    ...line,
    status: 401,
    ms: 1.5,
    endedAt: performance.now(),
    trace: null,
    store: undefined,
    key: undefined,
  })
  expected.push({
    ...expected[0],
    time: new Date().toISOString(),
    status: 401,
    ms: 1.5,
    store: undefined,
    key: undefined,
  })
  lines.flush()
  finish()
  const written = writes.join('').trimEnd().split('\n')
  expect(written.map((each) => JSON.parse(each))).toEqual(
    expected.map((each) => ({ ...each, msg: 'request' })),
  )
})

test('a line has no field of an earlier line', () => {
  const { lines, writes, finish } = output()
  const log = openLogInto('info', lines)
  for (let n = 0; n < 100; n += 1)
    log.info({ [`field${n}`]: n, store: n % 2 ? `store-${n}` : undefined }, 'line')
  lines.flush()
  finish()
  const written = writes
    .join('')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  for (const [n, line] of written.entries()) {
    expect(Object.keys(line).sort()).toEqual(
      ['level', 'time', `field${n}`, 'msg', ...(n % 2 ? ['store'] : [])].sort(),
    )
  }
})
