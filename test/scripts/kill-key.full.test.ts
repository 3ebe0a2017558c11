/** A process dies in the middle of a write: a repeat of its Idempotency-Key elsewhere is answered. */
import { CompiledQuery } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { openPostgres } from '#db/open'
import { hasPgbouncer, throwawayPgbouncer } from '#scripts/cli/pgbouncer'
import { whenFileEnds } from '#test/support/closing'
import { prepareServer, type Running, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

const path = '/v1/campaigns/lists'
const write = ({ url }: Running, key: string) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: {
      ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      'idempotency-key': 'the-key-of-a-test',
    },
    body: JSON.stringify({ name: 'Sale' }),
  })

describe.skipIf(!inject('postgresUrl') || inject('nodes').length > 1)('in the middle of a write', () => {
  test.each([
    ['a killed process', false],
    ['a killed process behind PgBouncer', true],
  ] as const)(
    '%s holds its key for seconds only, and the write is done once',
    async (_what, isPooled) => {
      if (isPooled && !hasPgbouncer) return
      const { env, filled: key } = await prepareServer(async (app) => (await store(app)).key)
      const direct = env.DATABASE_URL!
      if (isPooled) {
        const bouncer = await throwawayPgbouncer(direct, { mode: 'transaction', poolSize: 16 })
        whenFileEnds(() => bouncer.stop())
        Object.assign(env, { DATABASE_URL: bouncer.url, DATABASE_POOLER: 'on' })
      }
      const started = () => start('scripts/start.ts', { ...env, WORKER: 'off' })
      const [one, two] = await Promise.all([started(), started()])
      const database = openPostgres(direct)
      const release = Promise.withResolvers<void>()
      const locked = Promise.withResolvers<void>()
      const lock = database.root.transaction().execute(async (tx) => {
        await tx.executeQuery(CompiledQuery.raw('lock table contact_lists in share row exclusive mode'))
        locked.resolve()
        await release.promise
      })
      await locked.promise
      const first = write(one, key).then(
        ({ status }) => status,
        () => null,
      )
      const waiting = `select 1 from pg_locks where relation = 'contact_lists'::regclass and not granted`
      await until(async () => (await database.query(waiting, [])).length > 0)
      expect((await write(two, key)).status).toBe(409)
      const [claim] = await database.query<{ at: string }>(
        'select claimed_at::text as at from idempotency_keys',
        [],
      )
      one.child.kill('SIGKILL')
      release.resolve()
      await lock
      const answered = await until(async () => {
        const answer = await write(two, key)
        return answer.status !== 409 && answer
      })
      expect([answered.status, answered.headers.get('idempotency-replayed')]).toEqual([201, null])
      const later = `select extract(epoch from claimed_at - $1::timestamptz) < 45 as is_soon from idempotency_keys`
      expect(await database.query(later, [claim!.at])).toEqual([{ is_soon: true }])
      expect(await first).toBeNull()
      const again = await write(two, key)
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
      expect(await database.query('select name from contact_lists', [])).toEqual([{ name: 'Sale' }])
      await database.close()
    },
    120_000,
  )
})
