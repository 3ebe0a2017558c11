/** kill -9 of the process that writes an export (store, rule 15): the file is complete and sent once, by one email. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { expect, inject, test } from 'vitest'
import { seedLoad } from '#scripts/seed/load'
import { advance, call, kill, prepareServer, start, until } from '#test/support/processes'
import { store } from '#test/support/store'

/** Enough rows that the file is too large for the email, which then has a link. */
const conversions = 30_000

/** Total bytes below a folder. */
function measureSize(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0)
}

// Exported rows are bulk-loaded, which a cluster refuses.
test.skipIf(inject('nodes').length > 1)(
  'an export survives kill -9 of the process that writes it',
  async () => {
    let key = ''
    let email = ''
    const { env } = await prepareServer(async (app) => {
      const shop = await store(app)
      ;({ key, email } = shop)
      await seedLoad(app.services, { store: shop.slug, conversions, days: 100 })
    })
    const files = join(env.DATA_DIR!, 'files')
    const written = (): number => {
      try {
        return measureSize(files)
      } catch (error) {
        // Not written yet, or renamed concurrently.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0
        throw error
      }
    }
    const day = (before: number): string =>
      // biome-ignore lint/nursery/noJsRestrictedProperties: the processes it starts go by the machine's clock
      new Date(Date.now() - before * 86_400_000).toISOString().slice(0, 10)
    const path = `/v1/conversions/export?startDate=${day(110)}&endDate=${day(-1)}&status=all`
    const first = await start('scripts/start.ts', env)
    const queued = await call(first.url, key, 'GET', path)
    expect(queued.status).toBe(202)
    await until(async () => written() > 200_000)
    await kill(first, env)
    const writtenByFirst = written()

    const second = await start('scripts/start.ts', env)
    // A second request in the meantime gets the same job.
    expect((await call(second.url, key, 'GET', path)).body.jobId).toBe(queued.body.jobId)
    const outbox = async () => {
      const answer = await fetch(`${second.url}/sandbox/api/mail/outbox?to=${encodeURIComponent(email)}`)
      return ((await answer.json()) as { data: { text: string; calls: number }[] }).data
    }
    const mails = await until(async () => {
      // The job of the dead process is retried after its backoff, by this clock.
      await advance(second, 5)
      const found = await outbox()
      return found.length > 0 && found
    })
    expect(mails).toHaveLength(1)
    const link = /https?:\/\/\S+\/files\/\S+/.exec(mails[0]!.text)![0]
    const { pathname, search } = new URL(link)
    const file = await fetch(second.url + pathname + search)
    const bytes = Buffer.from(await file.arrayBuffer())
    expect(writtenByFirst).toBeLessThan(bytes.length)
    const rows: Record<string, string>[] = parse(bytes, {
      bom: true,
      columns: true,
    })
    expect(rows).toHaveLength(conversions)
    expect(new Set(rows.map((row) => row.order_number)).size).toBe(conversions)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
  },
)
