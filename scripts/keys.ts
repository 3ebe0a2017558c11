/** `npm run keys -- create | list | revoke`: API keys of a store. */
import { type Command, Option } from 'commander'
import { allScopes } from '#runtime/roles'
import { type CreatedKey, createKey, type ListedKey, listKeys, revokeKey } from '#scripts/admin/keys'
import { requireStore } from '#scripts/admin/stores'
import { withDatabase } from '#scripts/cli/database'
import { type Expiry, jsonOption, parseExpiry, storeOption, toExpiryDate } from '#scripts/cli/options'
import { examples, newProgram, runProgram } from '#scripts/cli/program'
import { type Column, table } from '#scripts/cli/table'
import { printLine, type Terminal } from '#scripts/cli/terminal'

export function keysProgram(terminal: Terminal): Command {
  const { out, env } = terminal
  const program = newProgram(terminal, 'npm run keys --')
    .description(
      'API keys of a store: the secret is shown once, only its hash is stored. Works while the server runs.',
    )
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run keys -- create --store aurora-supply --member olivia@aurora.example --scopes platform:read',
        'npm run keys -- list --store aurora-supply',
      ),
    )

  program
    .command('create')
    .description('Creates a key and shows it once.')
    .addOption(storeOption())
    .requiredOption('--member <email>', 'the member it acts as; it can do what their role can')
    .requiredOption('--scopes <list>', `separated by commas: ${allScopes.join(', ')}`)
    .option('--name <text>', 'purpose of the key')
    .addOption(
      new Option('--env <environment>', 'part of its text').choices(['live', 'test']).default('live'),
    )
    .option(
      '--expires <when>',
      '90d (days from now), or an instant with its zone; without it never',
      parseExpiry,
    )
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run keys -- create --store aurora-supply --member olivia@aurora.example --scopes platform:read',
        'npm run keys -- create --store aurora-supply --member ada@aurora.example --scopes platform:read --expires 90d',
      ),
    )
    .action((options: CreateOptions) =>
      withDatabase(env, async ({ database, now }) => {
        const { id: storeId } = await requireStore(database, options.store)
        const created = await createKey(database, now, {
          storeId,
          member: options.member,
          scopes: options.scopes.split(','),
          environment: options.env,
          expiresAt: toExpiryDate(options.expires, now),
          ...(options.name === undefined ? {} : { name: options.name }),
        })
        printLine(out, options.json ? JSON.stringify(created) : renderCreated(created))
      }),
    )

  program
    .command('list')
    .description('Lists the keys of a store, newest first, including expired and revoked ones.')
    .addOption(storeOption())
    .addOption(jsonOption())
    .addHelpText('after', examples(terminal, 'npm run keys -- list --store aurora-supply'))
    .action((options: { store: string; json?: boolean }) =>
      withDatabase(env, async ({ database, now }) => {
        const { id } = await requireStore(database, options.store)
        const data = await listKeys(database, id)
        if (options.json) printLine(out, JSON.stringify({ data }))
        else if (data.length === 0) printLine(out, 'The store has no keys.')
        else for (const each of table(out, columns, toRows(data, now))) printLine(out, each)
      }),
    )

  program
    .command('revoke')
    .description('Revokes a key; once this is confirmed, no server accepts it.')
    .addOption(storeOption())
    .requiredOption('--id <id>', 'as list shows it')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run keys -- revoke --store aurora-supply --id 01890000-0000-7000-8000-000000000000',
      ),
    )
    .action((options: { store: string; id: string; json?: boolean }) =>
      withDatabase(env, async ({ database, now, waitForPropagation }) => {
        const { id: storeId } = await requireStore(database, options.store)
        const revoked = await revokeKey(database, now, storeId, options.id)
        await waitForPropagation()
        const text = `${revoked.id} is revoked since ${revoked.revokedAt}`
        printLine(out, options.json ? JSON.stringify(revoked) : text)
      }),
    )
  return program
}

interface CreateOptions {
  store: string
  member: string
  scopes: string
  name?: string
  env: 'live' | 'test'
  expires?: Expiry
  json?: boolean
}

function renderCreated({ id, key, scopes, expiresAt: until }: CreatedKey): string {
  const end = until ? `until ${until}` : 'without an end'
  return `${key}\nThe key is shown this once. Id ${id}, ${scopes.join(', ')}, ${end}.`
}

type State = 'active' | 'expired' | 'revoked'
const colours = { active: 'green', expired: 'yellow', revoked: 'red' } as const

/** The columns of the list. In a narrow terminal the last columns are truncated, since ids are long. */
const columns: Column[] = [
  { title: 'id', kind: 'exact' },
  { title: 'state', kind: 'exact', style: (state) => colours[state as State] },
  { title: 'member', kind: 'text' },
  { title: 'name', kind: 'text' },
  { title: 'scopes', kind: 'text' },
  { title: 'until', kind: 'exact' },
  { title: 'key', kind: 'exact' },
]

const toRows = (all: ListedKey[], now: Date): string[][] =>
  all.map((key) => [
    key.id,
    getState(key, now),
    key.member,
    key.name,
    key.scopes.join(','),
    key.expiresAt?.slice(0, 10) ?? '–',
    `${key.prefix}…`,
  ])

function getState({ revokedAt, expiresAt: until }: ListedKey, now: Date): State {
  if (revokedAt) return 'revoked'
  return until && now >= new Date(until) ? 'expired' : 'active'
}

if (import.meta.main) process.exitCode = await runProgram(keysProgram)
