/**
 * Every write that takes If-Match, tried on the demo, where all sections are full: what was read long ago is refused and
 * changes nothing, what was read just now is taken or refused for a reason of its own.
 */
import { describe, expect, test } from 'vitest'
import { readersOf } from '#runtime/gateway/if-match'
import { isId } from '#runtime/values/ids'
import { wholeRegistry } from '#test/support/app'
import { bodyOf, lastOf, namesInBody, openDemo, pathOf } from './demo.ts'
import { rowsOf } from './rows.ts'

const { operations } = await wholeRegistry()
const { app, storeId, send, namesOf, context, readNow } = await openDemo()

const writes = operations.filter((operation) => readersOf(operations, operation).length > 0)
writes.sort((a, b) => lastOf(a) - lastOf(b))

const reads = operations.filter(({ spec }) => spec.method === 'GET' && spec.etag)

describe('an id in capitals', () => {
  test.each(reads.filter(({ spec }) => spec.path.includes(':')).map((each) => [each.id, each] as const))(
    '%s answers the same',
    async (_id, operation) => {
      const names = await namesOf(operation)
      const spelled = Object.entries(names).map(([name, id]) => [name, isId(id) ? id.toUpperCase() : id])
      const [plain, capitals] = [
        await send('GET', pathOf(operation.spec.path, names)),
        await send('GET', pathOf(operation.spec.path, Object.fromEntries(spelled))),
      ]
      expect(capitals).toEqual(plain)
    },
  )
})

describe('If-None-Match', () => {
  test.each(reads.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const path = pathOf(spec.path, await namesOf(operation))
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
  test('there are many', () => expect(writes.length).toBeGreaterThan(90))

  test.each(writes.map((each) => [each.id, each] as const))('%s', async (_id, operation) => {
    const { spec } = operation
    const names = await namesOf(operation)
    const own = namesInBody(operation, names)
    const first = bodyOf(operation, {}, own)
    const resource = await readNow(operation, names, first)
    const body = bodyOf(operation, resource, own)
    const path = pathOf(spec.path, names)
    const tag = await readersOf(operations, operation)[0]!.etag(await context(), {
      params: names,
      query: {},
      body,
    })
    expect(tag).toEqual(expect.any(String))
    const before = await rowsOf(app, storeId)
    const stale = await send(spec.method, path, body, { 'if-match': '"stale"' })
    expect([stale.status, stale.body?.error?.message]).toEqual([
      409,
      'If-Match: the resource has changed since it was read: read it again',
    ])
    expect(await rowsOf(app, storeId)).toEqual(before)
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

  test('most are taken', () => {
    expect(refused.length).toBeLessThan(writes.length / 4)
  })
})
const refused: string[] = []
