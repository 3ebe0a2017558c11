/** The whole server through PgBouncer, in both modes: commands, two gateways, a worker. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { hasPgbouncer, type PgbouncerOptions, throwawayPgbouncer } from '#scripts/cli/pgbouncer'
import { keysProgram } from '#scripts/keys'
import { migrateProgram } from '#scripts/migrate'
import { storeProgram } from '#scripts/store'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { run } from '#test/support/command'
import { call, start, until } from '#test/support/processes'

/** An empty database behind its own PgBouncer, and the environment to use it. */
async function pooled(options: Pick<PgbouncerOptions, 'mode' | 'poolSize'>) {
  const { database, url } = await freshDatabase()
  await database.script('drop schema public cascade; drop schema pgboss cascade; create schema public')
  await database.close()
  const bouncer = await throwawayPgbouncer(url!, options)
  whenFileEnds(() => bouncer.stop())
  const folder = mkdtempSync(join(tmpdir(), 'merchant-pooled-'))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  return {
    DATABASE_URL: bouncer.url,
    DATABASE_POOLER: 'on',
    DATABASE_READS: '2',
    DATABASE_TRANSACTIONS: '3',
    DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    SECRET_KEY: 'a secret key that only the tests use, 123',
  }
}

// Not supported in front of a cluster's coordinator.
describe.skipIf(!inject('postgresUrl') || inject('nodes').length > 1 || !hasPgbouncer)(
  'through PgBouncer',
  () => {
    const ways = [
      // All processes share one connection: code that needs a second one would hang.
      { mode: 'transaction', poolSize: 1 },
      // Four processes at a time, with eight connections each.
      { mode: 'session', poolSize: 32 },
    ] as const
    for (const way of ways) {
      test(`${way.mode}: commands, calls, jobs and limits that two gateways share`, async () => {
        const env = await pooled(way)
        const json = async (program: typeof storeProgram, args: readonly string[]) => {
          const ran = await run(program, [...args, '--json'], { env })
          expect([ran.code, ran.err]).toEqual([0, ''])
          return JSON.parse(ran.out)
        }
        const migrated = await run(migrateProgram, [], { env })
        expect([migrated.code, migrated.err]).toEqual([0, ''])
        expect(migrated.out).toMatch(/^Done: 0001/)
        const owner = 'owner@pooled.example.com'
        const place = ['--country', 'BR', '--currency', 'BRL', '--timezone', 'America/Sao_Paulo']
        await json(storeProgram, [
          'create',
          ...['--slug', 'pooled', '--name', 'Pooled', '--owner', owner, '--plan', 'growth', ...place],
        ])
        const key = async (): Promise<string> =>
          (
            await json(keysProgram, [
              'create',
              ...['--store', 'pooled', '--member', owner, '--scopes', 'platform:read,platform:write'],
            ])
          ).key
        const mine = await key()
        const limited = { ...env, RATE_LIMIT_STORE: '100' }
        const [one, two, worker] = await Promise.all([
          start('scripts/start.ts', { ...limited, WORKER: 'off' }),
          start('scripts/start.ts', { ...limited, WORKER: 'off' }),
          start('scripts/worker.ts', env),
        ])
        const gateways = [one, two]

        // Many at once, on both gateways: writes in their own transactions, and reads of the writes.
        const lists = await Promise.all(
          Array.from({ length: 40 }, (_none, n) =>
            call(gateways[n % 2]!.url, mine, 'POST', '/v1/campaigns/lists', { name: `List ${n}` }),
          ),
        )
        expect(lists.map(({ status }) => status)).toEqual(Array(40).fill(201))
        const read = await Promise.all(
          lists.map(({ body }, n) =>
            call(gateways[(n + 1) % 2]!.url, mine, 'GET', `/v1/campaigns/lists/${body.id}`),
          ),
        )
        expect(read.map(({ body }) => body.name)).toEqual(lists.map((_none, n) => `List ${n}`))

        // A job, run only by the worker.
        const path = '/v1/conversions/export?startDate=2026-01-01&endDate=2026-02-01&status=all'
        expect((await call(one.url, mine, 'GET', path)).status).toBe(202)
        const mails = await until(async () => {
          const found = await fetch(`${two.url}/sandbox/api/mail/outbox?to=${encodeURIComponent(owner)}`)
          const { data } = (await found.json()) as { data: unknown[] }
          return data.length > 0 && data
        })
        expect(mails).toHaveLength(1)

        // More than a minute's worth, whichever minute it falls in.
        const asked = await Promise.all(
          Array.from({ length: 300 }, (_none, n) => call(gateways[n % 2]!.url, mine, 'GET', '/v1/store')),
        )
        const refused = asked.filter(({ status }) => status === 429).length
        expect(asked.filter(({ status }) => status === 200)).toHaveLength(300 - refused)
        expect(refused).toBeGreaterThanOrEqual(100)

        for (const each of [one, two, worker]) each.child.kill('SIGTERM')
        expect(await Promise.all([one.ended, two.ended, worker.ended])).toEqual([0, 0, 0])
      })
    }

    test('commands and servers refuse an undeclared pooler, and say the remedy', async () => {
      const env = { ...(await pooled({ mode: 'transaction', poolSize: 4 })), DATABASE_POOLER: 'off' }
      const ran = await run(migrateProgram, [], { env })
      expect([ran.code, ran.out]).toEqual([1, ''])
      expect(ran.err).toMatch(/^DATABASE_URL leads to a pooler .*set DATABASE_POOLER=on.*\n$/)
      await expect(start('scripts/start.ts', env)).rejects.toThrow(/set DATABASE_POOLER=on/)
    })
  },
)
