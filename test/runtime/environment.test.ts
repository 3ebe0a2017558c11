/** Environment variables of sections: `environment.ts`, found by folder, all issues reported at once. */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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

test('a setting is named after its variable, and an empty variable is not set', () => {
  expect(readEnvironment(declared, { PARCEL_URL: '', PARCELS: '7', OTHER: 'x' })).toEqual({
    settings: { parcelUrl: 'parcel:none', parcelKey: null, parcels: 7 },
    issues: [],
  })
})

test('variables are validated separately, and together if those involved are valid', () => {
  const faultsOf = (env: Record<string, string>) => readEnvironment(declared, env).issues
  expect(faultsOf({ PARCEL_URL: 'parcel:a@b', PARCELS: '0' })).toEqual([
    'PARCELS: must be at least 1',
    'PARCEL_KEY: is required with an account',
  ])
  expect(faultsOf({ PARCEL_URL: 'mail:a@b' })).toEqual([
    'PARCEL_URL: Invalid input: must start with "parcel:"',
  ])
})

/** A tree of sections with the given text as `environment.ts`. */
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

test('issues of the runtime and of all sections are reported at once', async () => {
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

test('a variable belongs to one section, and environment.ts exports a declaration', async () => {
  const twice = sections({ one: 'export default environment({ MAIL_URL: optionalText })' })
  await expect(readSettings(env, twice)).rejects.toThrow(
    /MAIL_URL: .*one\/environment\.ts declares what the runtime declares/,
  )
  const derived = sections({ one: 'export default environment({ PRODUCTION: optionalText })' })
  await expect(readSettings(env, derived)).rejects.toThrow(/PRODUCTION: .* the runtime declares/)
  const none = sections({ one: 'export const settings = environment({})' })
  await expect(readSettings(env, none)).rejects.toThrow(/one\/environment\.ts: write `export default/)
})

test.each([
  [{ BILLING_URL: 'mercadopago://api.mercadopago.com' }, 'BILLING_URL: lacks the access token'],
  [{ BILLING_URL: 'mercadopago://a:b@c', BILLING_COUPONS: '/nonexistent' }, 'BILLING_COUPONS: /nonexistent'],
  [{ ECOMMERCE_URL: 'shopify://a:%zz@myshopify.com' }, 'ECOMMERCE_URL: has a %'],
  [{ ECOMMERCE_URL: 'tiendanube://tiendanube.com?script=1' }, 'ECOMMERCE_URL: add contact= with an email'],
  [
    { ECOMMERCE_URL: 'tiendanube://tiendanube.com?contact=a@b.example&script=x' },
    'ECOMMERCE_URL: script= must',
  ],
  [{ ECOMMERCE_URL: 'tiendanube://evil.example?contact=a@b.example' }, 'ECOMMERCE_URL: must be shopify://'],
  [
    { ECOMMERCE_URL: 'shopify://myshopify.com,shopify://myshopify.com' },
    'ECOMMERCE_URL: names a platform twice',
  ],
  [{ STORAGE_URL: 's3://x' }, 'STORAGE_URL: The address of the S3 storage'],
  [{ MAIL_URL: 'postmark://x' }, 'MAIL_URL: must be postmark://'],
  [
    { MESSAGING_URL: 'whatsapp://%zz@graph.facebook.com/v26.0?config=C', MESSAGING_APP_SECRET: 'secret' },
    'MESSAGING_URL: has a %',
  ],
  [{ NODE_ENV: 'Production' }, 'NODE_ENV: must be production'],
])('%j is refused as settings are read', async (given, fault) => {
  await expect(readSettings({ ...env, ...given })).rejects.toThrow(fault)
})

test('docs/deploying.md lists each variable once', () => {
  const root = join(import.meta.dirname, '../..')
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const files = globSync('operations/*/environment.ts', { cwd: root })
  const declaredIn = (file: string): string[] =>
    [...read(file).matchAll(/(?:^ +|\{ )([A-Z][A-Z_]+): /gm)].map(([, name]) => name!)
  const rows = read('docs/deploying.md')
    .split('## Settings')[1]!
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  const listed = rows.flatMap((row) =>
    [...row.split('|')[1]!.matchAll(/`([A-Z_]+)`/g)].map(([, name]) => name!),
  )
  expect(listed.sort()).toEqual(['runtime/server/settings.ts', ...files].flatMap(declaredIn).sort())
})
