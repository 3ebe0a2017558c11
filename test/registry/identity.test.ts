// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** The check that people are compared by their keys, shown to bite, and to find nothing here. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { identityFaults } from '#scripts/lib/identity'

const root = mkdtempSync(join(tmpdir(), 'identity-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const faultsOf = async (line: string): Promise<string[]> => {
  mkdirSync(join(root, 'operations/things/lib'), { recursive: true })
  writeFileSync(join(root, 'operations/things/lib/a.ts'), `// Phones.\n${line}\n`)
  return (await identityFaults(root)).map(({ file, remedy }) => `${file} ${remedy.split(' ')[1]}`)
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
])('%s is a fault', async (line, remedy) => {
  expect(new Set(await faultsOf(line))).toEqual(new Set([`operations/things/lib/a.ts:2 ${remedy}`]))
})

test.each([
  ".where('phone_key', '=', phoneKey(phone))",
  '// where phone = another',
  'const phone = customer.phone && parsePhone(customer.phone, country)',
  'sql`lower(c.email) like lower(${search}::text)`',
  "rows.where(phoneLike('c.phone', digits))",
  'sql`${emailKeyOf("o.customer_email")} = ${emailKey(email)}`',
  ".where('o.phone_key', '=', sql<string>`x.phone_key`)",
])('%s is none', async (line) => {
  expect(await faultsOf(line)).toEqual([])
})

test('nobody is compared otherwise here', async () => {
  expect(await identityFaults(join(import.meta.dirname, '../..'))).toEqual([])
})
