// biome-ignore-all lint/nursery/noJsRestrictedProperties: it asks whether deadlines hold while another process stands still
/** A frozen PostgreSQL server, as with a hanging disk: all its processes are stopped. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
// biome-ignore lint/style/noRestrictedImports: it asks whether deadlines hold while another process stands still
import { machineClock } from '#runtime/clock'
import { throwawayPostgres } from '#scripts/cli/postgres'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { call, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

const requestMs = 3_000
const path = '/v1/campaigns/lists'

test.skipIf(!inject('postgresUrl'))(
  'a frozen server: 503 without hanging, and recovery when it resumes',
  async () => {
    const server = await throwawayPostgres({ durable: false })
    const main = Number(readFileSync(join(server.dataDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    // The postmaster first, so that it forks no more processes. An exiting process needs no signal.
    const signal = (name: 'STOP' | 'CONT'): void => {
      process.kill(main, `SIG${name}`)
      const children = execFileSync('pgrep', ['-P', String(main)], { encoding: 'utf8' })
        .trim()
        .split('\n')
      for (const pid of children.map(Number)) {
        try {
          process.kill(pid, `SIG${name}`)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
        }
      }
    }
    let isFrozen = false
    whenFileEnds(async () => {
      if (isFrozen) signal('CONT')
      await server.stop()
    })
    const database = openPostgres(server.url)
    await migrate(database)
    const app = await testApp(
      { secretKey: 'a secret key that only the tests use, 123' },
      { database, clock: machineClock() },
    )
    const { key } = await store(app)
    await app.close()
    await database.close()
    const env = {
      DATABASE_URL: server.url,
      DATA_DIR: app.dataDir,
      LOG_LEVEL: 'error',
      REQUEST_TIMEOUT_MS: String(requestMs),
      STATEMENT_TIMEOUT_MS: '1000',
    }
    const gateway = await start('scripts/start.ts', env)
    expect((await call(gateway.url, key, 'GET', path)).status).toBe(200)

    signal('STOP')
    isFrozen = true
    const asked = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const startedAt = performance.now()
        const answer = await fetch(`${gateway.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
        await answer.body?.cancel()
        const waitFor = answer.headers.get('retry-after')
        return { status: answer.status, waitFor, ms: performance.now() - startedAt }
      }),
    )
    for (const { status, waitFor, ms } of asked) {
      expect(status).toBe(503)
      expect(Number(waitFor)).toBeGreaterThan(0)
      expect(ms).toBeLessThan(requestMs + 2_000)
    }
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200)
    const readyAt = performance.now()
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503)
    expect(performance.now() - readyAt).toBeLessThan(3_000)

    signal('CONT')
    isFrozen = false
    await until(async () => (await call(gateway.url, key, 'GET', path)).status === 200)

    signal('STOP')
    isFrozen = true
    const endAt = performance.now()
    gateway.child.kill('SIGTERM')
    await gateway.ended
    expect(performance.now() - endAt).toBeLessThan(11_000)
    signal('CONT')
    isFrozen = false
  },
)
