/** What sections read of the environment: `environment.ts`, found by folder, all faults told at once. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { z } from '#runtime/schema'
import { environment, optionalText, readEnvironment, wholeNumber } from '#runtime/server/environment'
import { readSettings } from '#runtime/server/settings'
import { whenFileEnds } from '#test/support/closing'

const folder = mkdtempSync(join(tmpdir(), 'merchant-environment-'))
whenFileEnds(async () => rmSync(folder, { recursive: true, force: true }))

const declared = environment(
  {
    PARCEL_URL: z.string().startsWith('parcel:').default('parcel:none'),
    PARCEL_KEY: optionalText,
    PARCELS: wholeNumber(3, 1),
  },
  ({ parcelUrl, parcelKey }) =>
    parcelUrl?.includes('@') && !parcelKey ? ['PARCEL_KEY: is required with an account'] : [],
)

test('a setting has the name of its variable, and an empty variable is not set', () => {
  expect(readEnvironment(declared, { PARCEL_URL: '', PARCELS: '7', OTHER: 'x' })).toEqual({
    settings: { parcelUrl: 'parcel:none', parcelKey: null, parcels: 7 },
    faults: [],
  })
})

test('variables are judged each by itself, and together where those that it takes are right', () => {
  const faultsOf = (env: Record<string, string>) => readEnvironment(declared, env).faults
  expect(faultsOf({ PARCEL_URL: 'parcel:a@b', PARCELS: '0' })).toEqual([
    'PARCELS: must be at least 1',
    'PARCEL_KEY: is required with an account',
  ])
  expect(faultsOf({ PARCEL_URL: 'mail:a@b' })).toEqual([
    'PARCEL_URL: Invalid input: must start with "parcel:"',
  ])
})

/** A tree of sections with the text of each one's `environment.ts`. */
function sections(texts: Record<string, string>): string {
  const root = mkdtempSync(join(folder, 'operations-'))
  const module = pathToFileURL(join(import.meta.dirname, '../../runtime/server/environment.ts')).href
  for (const [section, text] of Object.entries(texts)) {
    mkdirSync(join(root, section))
    writeFileSync(
      join(root, section, 'environment.ts'),
      `import { environment, optionalText, wholeNumber } from ${JSON.stringify(module)}\n${text}\n`,
    )
  }
  return root
}
const env = { SECRET_KEY: 'x'.repeat(32), DATA_DIR: folder }

test('faults of the runtime and of all sections are told at once', async () => {
  const root = sections({
    one: 'export default environment({ ONE_A_DAY: wholeNumber(1, 1) })',
    two: "export default environment({ TWO: optionalText }, ({ two }) => (two ? ['TWO: is of no use'] : []))",
  })
  expect(await readSettings(env, root)).toMatchObject({ oneADay: 1, two: null, port: 3000 })
  const faulty = readSettings({ ...env, PORT: 'x', ONE_A_DAY: '0', TWO: 'set' }, root)
  await expect(faulty).rejects.toThrow(
    'PORT: must be a whole number\nONE_A_DAY: must be at least 1\nTWO: is of no use',
  )
})

test('a variable has one section, and environment.ts exports a declaration', async () => {
  const twice = sections({ one: 'export default environment({ MAIL_URL: optionalText })' })
  await expect(readSettings(env, twice)).rejects.toThrow('MAIL_URL is declared by two environment.ts')
  const none = sections({ one: 'export const settings = environment({})' })
  await expect(readSettings(env, none)).rejects.toThrow(/one\/environment\.ts: write `export default/)
})
