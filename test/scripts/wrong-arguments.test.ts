/** Every command line with wrong arguments: one clear line, an exit code that is not 0, no stack trace, no effect. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Program } from '#scripts/cli/program'
import { run } from '#test/support/command'
import { emptyFolder } from '#test/support/processes'
import { type ListedCommand, listCommands, programs, splitExample } from '#test/support/programs'

const folder = await emptyFolder()
const nowhere = join(folder, 'nowhere')
/** Settings that are refused, so that no command reaches a database. */
const env = { DATABASE_URL: 'ftp://nobody@127.0.0.1/none', DATA_DIR: nowhere }

/** Commands that start servers or write to the project: their actions are replaced. */
const unsafe = new Set(['start', 'dev', 'worker', 'check', 'bench', 'with-postgres', 'with-citus', 'new'])
const withoutAction =
  (program: Program): Program =>
  (terminal) => {
    const stubbed = program(terminal)
    for (const each of [stubbed, ...stubbed.commands]) {
      each.action(() => {
        throw new Error('accepted')
      })
    }
    return stubbed
  }

async function runRefused({ script, program }: ListedCommand, args: string[]): Promise<string> {
  const { code, out, err } = await run(unsafe.has(script) ? withoutAction(program) : program, args, { env })
  expect([code, out, err.trimEnd().split('\n')], `${script} ${args.join(' ')}`).toEqual([
    1,
    '',
    [expect.stringMatching(/\w/)],
  ])
  return err
}

const commands = listCommands().filter(
  ({ command }) => command.commands.length === 0 || command.options.length > 1,
)

/** The arguments of the command's first example, which are valid. */
async function readValidArguments({ program, args }: ListedCommand): Promise<string[]> {
  const { out } = await run(program, [...args, '--help'])
  return splitExample(out.split('\nExamples:\n')[1]!.split('\n')[0]!).given
}

test.each(commands.map((each) => [each.name, each] as const))(
  '%s reports unknown and missing options and arguments by name',
  async (_name, each) => {
    const { command, args } = each
    const valid = await readValidArguments(each)
    expect(await runRefused(each, [...args, '--certainly-wrong', ...valid.slice(args.length)])).toContain(
      "unknown option '--certainly-wrong'",
    )
    for (const { long, mandatory } of command.options) {
      if (!mandatory) continue
      const at = valid.indexOf(long!)
      expect(await runRefused(each, valid.toSpliced(at, 2))).toContain(`required option '${long} `)
    }
    if (command.registeredArguments.some(({ required }) => required)) {
      expect(await runRefused(each, args)).toContain('missing required argument')
    } else expect(await runRefused(each, [...valid, 'one', 'more'])).toContain('too many arguments')
  },
)

test.each(commands.map((each) => [each.name, each] as const))(
  '%s reports an invalid value of each option in one line',
  async (_name, each) => {
    const valid = await readValidArguments(each)
    for (const { long, required, parseArg, argChoices } of each.command.options) {
      if (!required || long === '--env-file') continue
      for (const wrong of ['certainly wrong', '', '2029-02-30', '-1', join(nowhere, 'x.json')]) {
        const given = valid.includes(long!)
          ? valid.with(valid.indexOf(long!) + 1, wrong)
          : [...valid, long!, wrong]
        const message = await runRefused(each, given)
        if ((parseArg || argChoices) && !/^(?:accepted|DATABASE_URL: .*)\n$/.test(message))
          expect(message).toContain(long!)
      }
    }
  },
)

test.each([
  [
    'keys',
    ['--expires', '2029-02-30T00:00:00Z'],
    'There is no such day and time. Write 90d, or an instant such as',
  ],
  ['keys', ['--expires', '2029-02-28T24:01:00Z'], 'There is no such day and time'],
  ['keys', ['--expires', '2029-02-28'], 'Write 90d, or an instant such as'],
  ['keys', ['--expires', '0d'], 'Write 90d'],
] as const)('%s create %j is refused', async (_script, more, message) => {
  const [create] = listCommands().filter(({ name }) => name.endsWith('keys -- create'))
  expect(await runRefused(create!, [...(await readValidArguments(create!)), ...more])).toContain(message)
})

test.each([
  ['--slug', 'Bad Slug', 'slug: must be lower-case letters, digits and hyphens'],
  ['--name', ' ', 'name: must not be empty'],
  ['--owner', 'me', 'owner: must be an email address'],
  ['--country', 'XX', 'country: must be a country such as BR'],
  ['--currency', 'XAU', 'currency: must be a currency that exists, such as BRL'],
  ['--timezone', 'Mars/Base', 'timezone: Mars/Base is no time zone: use one such as America/Sao_Paulo'],
  ['--locale', 'português', 'locale: português is no language tag: use one such as pt-BR'],
] as const)('store create %s %j is refused before a database is made', async (option, value, message) => {
  const [create] = listCommands().filter(({ name }) => name.endsWith('store -- create'))
  expect(await runRefused(create!, [...(await readValidArguments(create!)), option, value])).toContain(
    message,
  )
})

test('files and folders that are missing, of another kind or without the right content are reported', async () => {
  const text = join(folder, 'text.json')
  writeFileSync(text, 'not JSON')
  const list = join(folder, 'list.json')
  writeFileSync(list, '[null]')
  const agency = ['set-agency', '--store', 'x', '--name', 'x', '--branding']
  const connect = ['connect', '--store', 'x', '--port', 'ecommerce', '--provider', 'sandbox', '--credentials']
  for (const [script, args, message] of [
    ['openapi', [join(nowhere, 'x.json')], `There is no folder ${nowhere}: make it first.`],
    ['openapi', [folder], 'It is a folder: name a file in it.'],
    ['seed', ['load', '--keys', join(nowhere, 'keys.json')], `There is no folder ${nowhere}`],
    ['bench', ['--json', join(nowhere, 'x.json')], `There is no folder ${nowhere}`],
    ['restore', [nowhere], `${nowhere} is no finished backup`],
    ['restore', [text], `${text} is no finished backup`],
    ['store', [...agency, nowhere], `branding: ${nowhere} cannot be read (ENOENT)`],
    ['store', [...agency, folder], `branding: ${folder} cannot be read (EISDIR)`],
    ['store', [...agency, text], `branding: ${text} is not valid JSON`],
    ['store', [...agency, list], `branding: ${list} must hold an object`],
    ['store', [...connect, list], `credentials: ${list} must hold an object`],
    [
      'store',
      [...connect.with(4, 'mailingList'), text, '--shop', 'x'],
      '--shop: is for --port ecommerce only',
    ],
    ['store', ['list', '--env-file', folder], `--env-file: ${folder} cannot be read (EISDIR)`],
  ] as const) {
    const { code, out, err } = await run(programs[script]!, args, { env: { ...env } })
    expect([code, out, err.trimEnd().split('\n').length], `${script} ${args.join(' ')}: ${err}`).toEqual([
      1,
      '',
      1,
    ])
    expect(err).toContain(message)
  }
  for (const report of [text, list]) {
    const { code, out } = await run(programs.count!, [report])
    expect([code, out]).toEqual([1, `${report} is no report of vitest\n0 passed, 1 failed\n`])
  }
})
