// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** The check that people are compared by their keys, shown to bite, and to find nothing here. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { identityFaults } from '#scripts/checks/identity'

const root = mkdtempSync(join(tmpdir(), 'identity-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const layers = ['db', 'runtime', 'operations']
const faultsOf = async (line: string, file = 'operations/things/lib/a.ts'): Promise<string[]> => {
  for (const layer of layers) {
    rmSync(join(root, layer), { recursive: true, force: true })
    mkdirSync(join(root, layer), { recursive: true })
  }
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `// Phones.\n${line}\n`)
  return (await identityFaults(root, [])).map(({ file: at, remedy }) => `${at} ${remedy.split(' ')[1]}`)
}

test.each([
  [".where('phone', '=', phone)", 'phone_key'],
  [".where('o.customer_phone', 'in', phones)", 'phone_key'],
  [".onRef('a.phone', '=', 'b.phone')", 'phone_key'],
  ["eb('c.phone', '=', phone)", 'phone_key'],
  ['sql<boolean>`c.phone = ${phone}`', 'phone_key'],
  ['sql<boolean>`a.phone = b.phone`', 'phone_key'],
  ['sql<boolean>`o.phone like ${pattern}::text`', 'phone_key'],
  [".where('email', '=', email)", 'emailKeyOf(column)'],
  ['sql<boolean>`lower(o.customer_email) = ${key}`', 'emailKeyOf(column)'],
  ['sql`lower(a.email) = lower(b.email)`', 'emailKeyOf(column)'],
  ['const key = email.trim().toLowerCase()', 'emailKeyOf(column)'],
  ['const key = order.customerEmail?.toLowerCase()', 'emailKeyOf(column)'],
  ['const is = found.email === given.email', 'emailKeyOf(column)'],
  ['const is = customer.phone !== phone', 'phone_key'],
  ["db.selectFrom('a').groupBy(['email', 'name'])", 'emailKeyOf(column)'],
  ["conflict.columns(['store_id', 'phone']).doNothing()", 'phone_key'],
  ['sql`email = ${email} and 1 = 1`', 'emailKeyOf(column)'],
  ["const q = 'select 1 from a where email = $1'", 'emailKeyOf(column)'],
  ['sql`a.email = b.customer_email`', 'emailKeyOf(column)'],
  ['sql`row_number() over (partition by store_id, lower(email))`', 'emailKeyOf(column)'],
  ['if (emailSchema.safeParse(text).success) keep(text)', 'readEmail(…)'],
])('%s is a fault', async (line, remedy) => {
  expect(new Set(await faultsOf(line))).toEqual(new Set([`operations/things/lib/a.ts:2 ${remedy}`]))
})

test('over several lines, and in every layer', async () => {
  const code =
    "a\n  .where(\n    'customer_email',\n    '=',\n    email,\n  )\nsql`select 1\n  where phone\n    = ${phone}`"
  for (const file of ['operations/things/lib/a.ts', 'runtime/ports/a.ts', 'db/a.ts']) {
    expect((await faultsOf(code, file)).map((each) => each.split(' ')[1])).toEqual([
      'emailKeyOf(column)',
      'phone_key',
    ])
  }
})

test.each([
  ".where('phone_key', '=', phoneKey(phone))",
  '// where phone = another',
  'const phone = customer.phone && parsePhone(customer.phone, country)',
  'sql`lower(c.email) like lower(${search}::text)`',
  "rows.where(phoneLike('c.phone', digits))",
  'sql`${emailKeyOf("o.customer_email")} = ${emailKey(email)}`',
  ".where('o.phone_key', '=', sql<string>`x.phone_key`)",
  ".where('coupon_email', '=', 'due')",
  ".where('channel', '=', 'email').where('email', 'is not', null)",
  "const is = [channel === 'email', email === null, given.phone !== undefined]",
  "eb('s.consent_email', '=', true)",
  'sql`consent_phone = ${consent}`',
])('%s is none', async (line) => {
  expect(await faultsOf(line)).toEqual([])
})
