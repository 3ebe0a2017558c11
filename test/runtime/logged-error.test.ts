/** The log tells where and why something failed, and nothing of whom it was about. */
import { expect, test, vi } from 'vitest'
import { seal } from '#runtime/secrets'
import { HeldLines, logInto } from '#runtime/server/log'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const written: string[] = []
const lines = new HeldLines((bytes, done) => {
  written.push(bytes.toString())
  done()
})
const log = logInto('debug', lines)
const app = await testApp({}, { log })

// biome-ignore lint/suspicious/noExplicitAny: tests look into any line
function logged(): any[] {
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
  const [own, around] = logged()
  expect(own.err.code).toBe(code)
  expect(own.err.stack).toContain('\n    at ')
  expect(around.err.message).toMatch(/^around it: ./)
  const text = JSON.stringify([own, around])
  for (const secret of secrets) expect(text).not.toContain(secret)
})

test('of a key that is taken: its index, and not whose it is', async () => {
  const shop = await store(app)
  const again =
    'insert into users (id, email, name, created_at, updated_at) select id, email, name, created_at, updated_at from users'
  log.error({ err: await app.database.query(again, []).catch((failure: unknown) => failure) }, 'failed')
  const [line] = logged()
  expect(line.err.code).toBe('23505')
  expect(line.err.constraint ?? line.err.constraint_name ?? line.err.message).toContain('users')
  expect(JSON.stringify(line)).not.toContain(shop.email)
})

test('of what libraries put beside their errors', () => {
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
  const all = logged()
  expect(all[0].err.message).toBe('+… cannot be reached: 550 5.1.1 <…@…>: no such user')
  expect(all[1].err).toMatchObject({ type: 'Error', responseCode: 550 })
  expect(all[3].err.aggregateErrors).toHaveLength(1)
  const text = JSON.stringify(all)
  for (const secret of [...secrets, sealed]) expect(text).not.toContain(secret)
  expect(text).toContain('logged-error.test.ts')
})

test('of a page that failed: its route, and not the token that opens it', async () => {
  const shop = await store(app)
  const query = vi.spyOn(app.services.database, 'query').mockRejectedValue(new Error('lost'))
  const token = 'a-token-that-opens-it'
  const path = `/storefront/${shop.publicId}/exchanges/requests/${token}`
  const { status } = await app.fetch(new Request(`http://localhost${path}`), { ip: '127.0.0.1' })
  query.mockRestore()
  expect(status).toBe(503)
  const failed = logged().filter(({ msg }) => msg === 'failed')
  expect(failed.map((line) => line.path)).toEqual(['/storefront/:publicId/exchanges/requests/:statusToken'])
  expect(JSON.stringify(failed)).not.toContain(token)
})
