// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** The project's own rules in biome.json: one run of Biome over one file per example. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const project = join(import.meta.dirname, '../../..')
const root = mkdtempSync(join(tmpdir(), 'lint-rules-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const clock = 'ctx.clock'
const state = 'keeps state between calls'
const spelling = 'compares people by spelling'
const cents = 'rounds to hundredths'
const nulls = 'ignore nulls'
const wait = "import { setTimeout as wait } from 'node:timers/promises'\nawait wait(10)"

/** By the folder of the file, with a part of the message. */
const refused: [folder: string, code: string, message: string][] = [
  ['runtime', 'const a = Date.now()', "'Date.now'"],
  ['db', 'const a = new Date()', clock],
  ['operations/one', 'const a = DateTime.utc()', clock],
  ['operations/one', 'const a = at.diffNow()', 'diffNow'],
  ['operations/one', 'const a = sql`select 1 where at < now()`', clock],
  ['runtime', "const a = sql`select NOW() + interval '1 s'`", clock],
  ['runtime', 'const a = sql`select 1 where day > current_date - 30`', clock],
  ['runtime', "import { machineClock } from '#runtime/clock'\nconst a = machineClock()", clock],
  ['test', 'const a = Date.now()', "'Date.now'"],
  ['test', 'app.clock.frozenAt = null', clock],
  ['test', 'const a = performance.now()', 'performance.now'],
  ['operations/one', wait, 'pause or clockReaches'],
  ['operations/one', 'do { next = await read(next) } while (next)', 'Nothing bounds this loop'],
  ['operations/one', 'const kept = new Map<string, number>()', state],
  ['operations/one', 'export const kept: string[] = []', state],
  ['operations/one', 'const kept = {}', state],
  ['operations/one', 'let kept = 0', state],
  ['operations/one', 'const notice = { dedupeKey: `sold:${id}:${tx.clock.ms()}` }', 'contains the clock'],
  ['operations/one', 'await ctx.adapters.mail.send({ to, ...mail })', 'files.sendMail'],
  ['operations/one', "rows.where('o.customer_phone', 'in', phones)", spelling],
  ['operations/one', "rows.onRef('a.email', '=', 'b.email')".replace("'b.email'", 'other'), spelling],
  ['db', "rows.where(\n  'email',\n  '=',\n  email,\n)", spelling],
  ['operations/one', 'const a = sql<boolean>`c.phone = ${phone}`', spelling],
  ['operations/one', 'const a = sql`a.phone = b.phone`', spelling],
  ['operations/one', 'const a = sql`o.phone like ${pattern}::text`', spelling],
  ['operations/one', 'const a = sql`lower(o.customer_email) = ${key}`', spelling],
  ['operations/one', 'const a = sql`row_number() over (partition by store_id, lower(email))`', spelling],
  ['operations/one', 'const key = order.customerEmail?.toLowerCase()', spelling],
  ['operations/one', 'const key = email.trim().toLowerCase()', spelling],
  ['operations/one', 'const is = found.email === given.email', spelling],
  ['operations/one', 'const is = customer.phone !== phone', spelling],
  ['operations/one', "conflict.columns(['store_id', 'phone']).doNothing()", spelling],
  ['operations/one', "db.selectFrom('a').groupBy(['email', 'name'])", spelling],
  ['operations/one', 'if (emailSchema.safeParse(text).success) keep(text)', 'emailSchema.safeParse'],
  ['operations/one', 'const a = Math.round(x * 100) / 100', cents],
  ['runtime', 'const a = Math.floor(100 * (x + y))', cents],
  ['runtime', 'const a = Math.ceil(cents) / 100', cents],
  ['runtime', 'const a = price.toFixed(2)', cents],
  ['runtime', 'const a = sql`round(a * ${b} / (1 + c), 2)`', cents],
  ['db', 'const a = sql`sum(${b})::numeric(14, 2)`', cents],
  ['operations/one', "const a = new Intl.NumberFormat('pt-BR', {})", 'localized.ts'],
  ['operations/one', 'const a = sql`greatest(a, ${b})`', nulls],
  ['operations/one', 'const a = sql<number>`select ${x}, LEAST (a, b)`', nulls],
  ['db', "const a = eb.fn('greatest', ['a', 'b'])", nulls],
  ['operations/one', "const a = at.startOf('day')", 'startOf'],
  ['operations/one', 'const a = sql`(day::timestamp at time zone zone)`', 'midnight'],
  ['operations/one', 'ask()\n'.repeat(401), '401'],
]

const accepted: [folder: string, code: string][] = [
  [
    'operations/one',
    '// Date.now() and now()\nconst a = [new Date(at), ctx.now(), await now(), "it is now"]',
  ],
  ['operations/one', 'const a = sql`select ${ctx.now()}, ${now()}, row_timestamp`'],
  ['operations/one', 'const until = performance.now() + 10'],
  ['operations/store/ecommerce', wait],
  ['operations/one', "import { setImmediate as others } from 'node:timers/promises'\nawait others()"],
  ['operations/one', 'const none: ReadonlySet<string> = new Set()\nconst names = new Set(["a"])'],
  ['operations/one', 'function ask() {\n  let found = 0\n  const all = []\n  return () => new Map()\n}'],
  ['runtime', 'const kept = new Map()'],
  ['operations/one', 'const notice = { dedupeKey: `sold:${id}` }'],
  ['operations/one', "rows.where('phone_key', '=', phoneKey(phone)).where('coupon_email', '=', 'due')"],
  ['operations/one', "rows.where('email', 'is not', null).select(['phone', 'email'])"],
  ['operations/one', "const a = eb('s.consent_email', '=', true)"],
  ['operations/one', 'const a = sql`lower(c.email) like lower(${search}::text)`'],
  ['operations/one', 'const a = sql`${emailKeyOf("o.customer_email")} = ${emailKey(email)}`'],
  [
    'operations/one',
    'const a = [row.phone_key === phoneKey(phone), email === null, row.phone !== undefined]',
  ],
  ['operations/one', 'const a = [Math.round(x), x.toFixed(4), Math.floor(ms / 1000)]'],
  ['operations/one', 'const a = sql`round(100.0 * count(*), 1), (${b})::numeric`'],
  ['operations/one', 'const a = sql`${least(x, y)}`\nconst b = `must be at least (in whole units) 2`'],
  ['db/migrations', 'const a = `least(a, b), c numeric(12, 2), unique (store_id, email)`'],
]

function lint(files: readonly string[][]): Map<string, string[]> {
  cpSync(join(project, 'biome.json'), join(root, 'biome.json'))
  cpSync(join(project, 'scripts/checks/rules'), join(root, 'scripts/checks/rules'), { recursive: true })
  const found = new Map<string, string[]>()
  for (const [path, code] of files) {
    mkdirSync(dirname(join(root, path!)), { recursive: true })
    writeFileSync(join(root, path!), `${code}\n`)
    found.set(path!, [])
  }
  const only = ['plugin', 'lint/style/noRestrictedImports', 'lint/nursery/noJsRestrictedProperties']
  const rules = [...only, 'lint/style/noExcessiveLinesPerFile']
  for (const { category, message, advices, location } of run()) {
    if (rules.includes(category)) found.get(location.path)?.push(`${message} ${JSON.stringify(advices)}`)
  }
  return found
}

interface Diagnostic {
  category: string
  message: string
  advices: unknown
  location: { path: string }
}

function run(): Diagnostic[] {
  const biome = join(project, 'node_modules/@biomejs/biome/bin/biome')
  try {
    execFileSync(process.execPath, [biome, 'lint', '--reporter=json', '--max-diagnostics=none', '.'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    return JSON.parse(String((error as { stdout: Buffer }).stdout)).diagnostics
  }
  return []
}

const found = lint([
  ...refused.map(([folder, code], at) => [`${folder}/refused-${at}.ts`, code]),
  ...accepted.map(([folder, code], at) => [`${folder}/accepted-${at}.ts`, code]),
])

test.each(refused.map((each, at) => [...each, at] as const))(
  '%s: %s is refused',
  (folder, _code, message, at) => {
    expect(found.get(`${folder}/refused-${at}.ts`)?.join('\n')).toContain(message)
  },
)

test.each(accepted.map((each, at) => [...each, at] as const))('%s: %s passes', (folder, _code, at) => {
  expect(found.get(`${folder}/accepted-${at}.ts`)).toEqual([])
})
