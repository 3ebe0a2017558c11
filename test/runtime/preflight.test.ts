/** The checks before a start: `npm run doctor`, and what a server refuses. */
import postgres from 'postgres'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openDatabase } from '#runtime/server/app'
import { findIssues } from '#runtime/server/preflight'
import { readSettings } from '#runtime/server/settings'
import { migrateDatabase, requireSecretKey } from '#runtime/server/startup-errors'
import { doctorProgram } from '#scripts/doctor'
import { testApp } from '#test/support/app'
import { withDatabase } from '#test/support/cluster'
import { run } from '#test/support/command'
import { emptyFolder } from '#test/support/processes'
import { isFullSuite } from '#test/support/suite'

const one = 'a secret key that only the tests use, 123'
const other = 'another secret key that only the tests use'

test('another secret key is refused, unless the earlier one is named or it is accepted', async () => {
  const app = await testApp()
  const { database, settings } = app.services
  const at = (secretKey: string, previousSecretKey: string | null = null) => ({
    ...settings,
    secretKey,
    previousSecretKey,
  })
  await requireSecretKey(at(one), database)
  await expect(requireSecretKey(at(other), database)).rejects.toThrow(/^SECRET_KEY: is another one/)
  expect(await findIssues(database, at(other), app.clock)).toContainEqual({
    level: 'fault',
    message: expect.stringMatching(/^SECRET_KEY: .*SECRET_KEY_PREVIOUS.*--accept-secret-key/),
  })
  await requireSecretKey(at(other, one), database)
  await requireSecretKey(at(other), database)
})

test.runIf(isFullSuite)('doctor reports nothing for a new server, and faults with their remedy', async () => {
  const DATA_DIR = await emptyFolder()
  const env = { DATA_DIR, SECRET_KEY: one, NODE_ENV: 'production', PUBLIC_URL: 'https://api.example.com' }
  expect(await run(doctorProgram, [], { env })).toMatchObject({ code: 0, out: 'Nothing to report.\n' })
  expect(await run(doctorProgram, ['--accept-secret-key'], { env })).toMatchObject({ code: 0 })
  const found = await run(doctorProgram, [], {
    env: { ...env, SECRET_KEY: other, PUBLIC_URL: 'http://localhost:3000' },
  })
  expect(found).toMatchObject({ code: 1 })
  expect(found.out).toMatch(/^warning: PUBLIC_URL: http:\/\/localhost:3000 is reached by this machine only/m)
  expect(found.out).toMatch(/^fault: SECRET_KEY: /m)
})

test.runIf(inject('postgresUrl'))('a new database of another encoding or locale is refused', async () => {
  const url = inject('postgresUrl')!
  const admin = postgres(url, { max: 1, onnotice: () => {} })
  onTestFinished(() => admin.end())
  for (const [name, encoding, message] of [
    ['latin', 'LATIN1', /the encoding LATIN1, and only UTF8 is right: make one by createdb/],
    ['ascii', 'SQL_ASCII', /the encoding SQL_ASCII/],
    ['c', 'UTF8', /the locale of the database knows no accents/],
  ] as const) {
    const database = `merchant_${name}_${process.pid}`
    await admin.unsafe(`create database ${database} template template0 encoding '${encoding}' locale 'C'`)
    const settings = await readSettings({ DATABASE_URL: withDatabase(url, database), SECRET_KEY: one })
    const opened = await openDatabase(settings)
    await expect(migrateDatabase(settings, opened.database)).rejects.toThrow(message)
    await opened.close()
    await admin.unsafe(`drop database ${database} with (force)`)
  }
})
