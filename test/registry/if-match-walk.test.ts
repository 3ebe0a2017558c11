/**
 * Every write that supports If-Match, tested on the demo: a stale tag is refused and changes nothing, a fresh one is
 * accepted or refused for another reason.
 */
import { describe, expect, test } from 'vitest'
import { getIfMatchReaders } from '#runtime/gateway/if-match'
import { isId } from '#runtime/values/ids'
import { wholeRegistry } from '#test/support/app'
import { buildBody, buildPath, getRunOrder, openDemo, pickBodyNames } from './demo.ts'
import { snapshotRows } from './row-snapshots.ts'

const { operations } = await wholeRegistry()
const { app, storeId, send, namesOf, context, readNow } = await openDemo()

const writes = operations.filter((operation) => getIfMatchReaders(operations, operation).length > 0)
writes.sort((a, b) => getRunOrder(a) - getRunOrder(b))

const reads = operations.filter(({ spec }) => spec.method === 'GET' && spec.etag)

describe('an id in capitals', () => {
  test.each(reads.filter(({ spec }) => spec.path.includes(':')).map((each) => [each.id, each] as const))(
    '%s answers the same',
    async (_id, operation) => {
      const names = await namesOf(operation)
      const spelled = Object.entries(names).map(([name, id]) => [name, isId(id) ? id.toUpperCase() : id])
      const [plain, capitals] = [
        await send('GET', buildPath(operation.spec.path, names)),
        await send('GET', buildPath(operation.spec.path, Object.fromEntries(spelled))),
      ]
      expect(capitals).toEqual(plain)
    },
  )
})

describe('If-None-Match', () => {
  test.each(reads.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const path = buildPath(spec.path, await namesOf(operation))
    const first = await send('GET', path)
    if (first.status === 404) expect(spec.path).toContain(':')
    else {
      const again = await send('GET', path, undefined, { 'if-none-match': first.tag! })
      expect([first.status, again.status, again.tag]).toEqual([200, 304, first.tag])
      const other = await send('GET', path, undefined, { 'if-none-match': '"another"' })
      expect(other).toEqual(first)
    }
  })
})

describe('a write with If-Match', () => {
  test('there are over 90 such writes', () => expect(writes.length).toBeGreaterThan(90))

  test.each(writes.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const names = await namesOf(operation)
    const own = pickBodyNames(operation, names)
    const first = buildBody(operation, {}, own)
    const resource = await readNow(operation, names, first)
    const body = buildBody(operation, resource, own)
    const path = buildPath(spec.path, names)
    const tag = await getIfMatchReaders(operations, operation)[0]!.etag(await context(), {
      params: names,
      query: {},
      body,
    })
    expect(tag).toEqual(expect.any(String))
    const before = await snapshotRows(app, storeId)
    const stale = await send(spec.method, path, body, { 'if-match': '"stale"' })
    expect([stale.status, stale.body?.error?.message]).toEqual([
      409,
      'If-Match: the resource has changed since it was read: read it again',
    ])
    expect(await snapshotRows(app, storeId)).toEqual(before)
    const fresh = await send(spec.method, path, body, { 'if-match': tag! })
    const message = fresh.body?.error?.message
    if (fresh.status >= 300) {
      expect([fresh.status, message], operation.id).toEqual([
        expect.toBeOneOf([403, 404, 409]),
        expect.not.stringMatching(/^If-Match/),
      ])
      refused.push(`${operation.id}: ${fresh.status} ${message}`)
    } else expect(fresh.status).toBe(spec.answer.status)
    await app.drainJobs({ allowFailures: true })
  })

  test('most are accepted', () => {
    expect(refused.length).toBeLessThan(writes.length / 4)
  })
})
const refused: string[] = []
