/** The log shows where and why something failed, and nothing about people. */
import { expect, test, vi } from 'vitest'
import { seal } from '#runtime/secrets'
import { LineBuffer, openLogInto } from '#runtime/server/log'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const written: string[] = []
const lines = new LineBuffer((bytes, done) => {
  written.push(bytes.toString())
  done()
})
const log = openLogInto('debug', lines)
const app = await testApp({}, { log })

// biome-ignore lint/suspicious/noExplicitAny: tests look into any line
function readLogged(): any[] {
  lines.flush()
  const text = written.splice(0).join('')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const secrets = ['ana.souza@example.com', '+5511987654321', 'Ana Souza', 'mk_live_'] as const

test.each([
  ['a row that breaks a rule', `insert into users (id, email, name) values ($1, $2, $3)`, '23502'],
  ['a value of another form', `select $2::uuid, $1::text, $3::text, 'a'`, '22P02'],
  ['a table that is not there', 'select $1::text, $2::text, $3::text from nowhere', '42P01'],
])('of %s', async (_what, statement, code) => {
  const values = ['01890a5d-ac96-774b-bcce-b302099a8057', 'ana.souza@example.com', 'Ana Souza']
  const error = await app.database.query(statement, values).catch((failure: unknown) => failure)
  log.error({ err: error }, 'failed')
  log.error({ err: new Error('around it', { cause: error }) }, 'failed')
  const [own, around] = readLogged()
  expect(own.err.code).toBe(code)
  expect(own.err.stack).toContain('\n    at ')
  expect(around.err.message).toMatch(/^around it: ./)
  const text = JSON.stringify([own, around])
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('a duplicate key logs its index, and not its value', async () => {
  const shop = await store(app)
  const again =
    'insert into users (id, email, name, created_at, updated_at) select id, email, name, created_at, updated_at from users'
  log.error({ err: await app.database.query(again, []).catch((failure: unknown) => failure) }, 'failed')
  const [line] = readLogged()
  expect(line.err.code).toBe('23505')
  expect(line.err.constraint ?? line.err.constraint_name ?? line.err.message).toContain('users')
  expect(JSON.stringify(line)).not.toContain(shop.email)
})

test('properties that libraries add to errors are not logged', () => {
  const sealed = seal(app.services.settings, 'store', { apiKey: 'a' })
  const refused = Object.assign(new Error('550 5.1.1 <ana.souza@example.com>: no such user'), {
    responseCode: 550,
    response: '550 5.1.1 <ana.souza@example.com>: no such user',
    rejected: ['ana.souza@example.com'],
    params: [sealed, '+5511987654321'],
  })
  log.warn({ err: new Error('+5511987654321 cannot be reached', { cause: refused }) }, 'failed')
  log.warn({ err: refused }, 'failed')
  log.warn({ err: 'ana.souza@example.com' }, 'failed')
  log.warn({ err: new AggregateError([refused], 'all of them') }, 'failed')
  const all = readLogged()
  expect(all[0].err.message).toBe('+… cannot be reached: 550 5.1.1 <…@…>: no such user')
  expect(all[1].err).toMatchObject({ type: 'Error', responseCode: 550 })
  expect(all[3].err.aggregateErrors).toHaveLength(1)
  const text = JSON.stringify(all)
  for (const secret of [...secrets, sealed]) expect(text).not.toContain(secret)
  expect(text).toContain('logged-error.test.ts')
})

test('a JSON syntax error logs its position, and not the text', () => {
  for (const text of ['Ana Souza', '{"name": Ana Souza, "a": "b"}', `{"a": "${'b'.repeat(90)}" Ana Souza`]) {
    const failure = (() => {
      try {
        return JSON.parse(text) as unknown
      } catch (error) {
        return error
      }
    })()
    log.warn({ err: new Error('no hook', { cause: failure }) }, 'failed')
    const [line] = readLogged()
    expect(line.err.message).toMatch(/^no hook: .*JSON/)
    expect(line.err.stack).toContain('logged-error.test.ts')
    expect(JSON.stringify(line)).not.toContain('Ana')
  }
})

test('the code of an inner error is logged if no address of a host answers', () => {
  const refused = Object.assign(new AggregateError([new Error('connect ECONNREFUSED ::1:9')]), {
    code: 'ECONNREFUSED',
  })
  log.warn({ err: new Error('no answer', { cause: new TypeError('failed', { cause: refused }) }) }, 'failed')
  expect(readLogged()[0].err).toMatchObject({ message: 'no answer: failed: ', code: 'ECONNREFUSED' })
})

test('the reason of a failed job, then a text, is masked', () => {
  const said = (reason: string): unknown => {
    log.error({ reason }, 'given up')
    return readLogged()[0].reason
  }
  expect(said('550 <ana.souza@example.com>: no such user')).toBe('550 <…@…>: no such user')
  expect(said('Unexpected token \'A\', ..."e","name":Ana Souza}" is not valid JSON')).toBe(
    'Unexpected token \'A\', ..."…" is not valid JSON',
  )
  expect(said('it said nothing "for long')).toBe('it said nothing "for long')
})

test('any thrown value is logged safely, and logging never fails', () => {
  const circular = new Error('first')
  circular.cause = new Error('second', { cause: circular })
  const partOfItself = new AggregateError([], 'all')
  partOfItself.errors.push(partOfItself)
  const broken = (name: string, value: PropertyDescriptor): Error =>
    Object.defineProperty(new Error('a'), name, { enumerable: true, ...value })
  const unreadable = {
    get: () => {
      throw new Error('no')
    },
  }
  const all: [unknown, object | string | undefined][] = [
    [circular, { message: 'first: second' }],
    [partOfItself, { message: 'all', aggregateErrors: [{ message: 'all' }] }],
    [Object.freeze(new Error('frozen')), { message: 'frozen' }],
    [broken('message', unreadable), { type: 'Error' }],
    [broken('code', unreadable), {}],
    [broken('other', unreadable), { message: 'a' }],
    [broken('message', { value: undefined }), { message: '' }],
    [broken('stack', { value: { a: 1 } }), { message: 'a' }],
    [
      { code: 'E1', message: 'to ana.souza@example.com', headers: { authorization: 'mk_live_1' } },
      { code: 'E1' },
    ],
    [undefined, undefined],
    [null, {}],
    [Symbol('a'), {}],
    ['a', 'a'],
  ]
  for (const [thrown, told] of all) {
    log.warn({ err: thrown }, 'failed')
    const lines = readLogged()
    expect(lines).toHaveLength(1)
    if (typeof told === 'object') expect(lines[0].err).toMatchObject(told)
    else expect(lines[0].err).toBe(told)
    for (const secret of secrets) expect(JSON.stringify(lines)).not.toContain(secret)
  }
})

test('a failed page logs its route, and not the token in it', async () => {
  const shop = await store(app)
  const query = vi.spyOn(app.services.database, 'query').mockRejectedValue(new Error('lost'))
  const token = 'a-token-that-opens-it'
  const path = `/storefront/${shop.publicId}/exchanges/requests/${token}`
  const { status } = await app.fetch(new Request(`http://localhost${path}`), { ip: '127.0.0.1' })
  query.mockRestore()
  expect(status).toBe(503)
  const failed = readLogged().filter(({ msg }) => msg === 'failed')
  expect(failed.map((line) => line.path)).toEqual(['/storefront/:publicId/exchanges/requests/:statusToken'])
  expect(JSON.stringify(failed)).not.toContain(token)
})
