/** Two servers in DATABASE_URL: a standby is not written to, and is used once it is promoted. */
import { expect, inject, test } from 'vitest'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { throwawayPostgres } from '#scripts/cli/postgres'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { call, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

const path = '/v1/campaigns/lists'

test.skipIf(!inject('postgresUrl'))(
  'a promoted standby takes the writes, and readiness names the reason until then',
  async () => {
    const primary = await throwawayPostgres({ durable: false })
    whenFileEnds(() => primary.stop())
    const standby = await throwawayPostgres({ durable: false, standbyOf: primary.port })
    whenFileEnds(() => standby.stop())
    const database = openPostgres(primary.url)
    await migrate(database)
    const app = await testApp({ secretKey: 'a secret key that only the tests use, 123' }, { database })
    const { key } = await store(app)
    await app.close()
    await database.close()
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    const env = {
      DATABASE_URL: `postgres://postgres@${hosts}/postgres?target_session_attrs=read-write`,
      DATA_DIR: app.dataDir,
      LOG_LEVEL: 'fatal',
    }
    const gateway = await start('scripts/start.ts', env)
    let n = 0
    const write = async () => {
      n += 1
      return (await call(gateway.url, key, 'POST', path, { name: `List ${n}` })).status
    }
    expect(await write()).toBe(201)
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)

    await primary.crash()
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
    await standby.promote()
    await until(async () => (await write()) === 201)
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200)
  },
  120_000,
)

test.skipIf(!inject('postgresUrl'))('a database that takes no writes is refused, and not ready', async () => {
  const primary = await throwawayPostgres({ durable: false })
  whenFileEnds(() => primary.stop())
  const database = openPostgres(primary.url)
  await migrate(database)
  const app = await testApp({ secretKey: 'a secret key that only the tests use, 123' }, { database })
  const standby = await throwawayPostgres({ durable: false, standbyOf: primary.port })
  whenFileEnds(() => standby.stop())
  expect(await app.findUnready()).toBeNull()
  await database.query(`alter system set default_transaction_read_only = on`, [])
  await database.query('select pg_reload_conf()', [])
  await expect
    .poll(() => app.findUnready())
    .toBe('the database takes no writes: default_transaction_read_only is on')
  await app.close()
  await database.close()
  const refusal = start('scripts/start.ts', { DATABASE_URL: standby.url, DATA_DIR: app.dataDir })
  await expect(refusal).rejects.toThrow('DATABASE_URL: the database is a standby, which takes no writes')
})
