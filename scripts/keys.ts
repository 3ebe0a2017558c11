/** `npm run keys -- create | list | revoke`: API keys of a store. */
import { Command, Option } from 'commander'
import { type CreatedKey, createKey, type ListedKey, listKeys, revokeKey } from '#operations/store/lib/keys'
import { requireStore } from '#operations/store/lib/store-admin'
import { allScopes } from '#runtime/operation'
import { withDatabase } from './lib/database.ts'
import { explain } from './lib/explain.ts'
import { type Expiry, expiresAt, expiry, jsonOption, runProgram, storeOption } from './lib/options.ts'

const program = new Command('keys').description('API keys of a store. Only their hashes are kept.')

program
  .command('create')
  .description('Makes a key and shows it, this once.')
  .addOption(storeOption())
  .requiredOption('--member <email>', 'the member it acts as; it can do what their role can')
  .requiredOption('--scopes <list>', `separated by commas: ${allScopes.join(', ')}`)
  .option('--name <text>', 'what it is for')
  .addOption(new Option('--env <environment>', 'part of its text').choices(['live', 'test']).default('live'))
  .option('--expires <when>', '90d from now, or an instant; without it never', expiry)
  .addOption(jsonOption())
  .action((options: CreateOptions) =>
    explain(() =>
      withDatabase(async ({ database, now }) => {
        const { id: storeId } = await requireStore(database, options.store)
        const created = await createKey(database, now, {
          storeId,
          member: options.member,
          scopes: options.scopes.split(','),
          environment: options.env,
          expiresAt: expiresAt(options.expires, now),
          ...(options.name === undefined ? {} : { name: options.name }),
        })
        console.log(options.json ? JSON.stringify(created) : createdText(created))
      }),
    ),
  )

program
  .command('list')
  .description('Lists the keys of a store, newest first, those that have ended too.')
  .addOption(storeOption())
  .addOption(jsonOption())
  .action((options: { store: string; json?: boolean }) =>
    explain(() =>
      withDatabase(async ({ database, now }) => {
        const { id } = await requireStore(database, options.store)
        const data = await listKeys(database, id)
        console.log(options.json ? JSON.stringify({ data }) : listText(data, now))
      }),
    ),
  )

program
  .command('revoke')
  .description('Ends a key for good; once this is done no server takes it.')
  .addOption(storeOption())
  .requiredOption('--id <id>', 'as list shows it')
  .addOption(jsonOption())
  .action((options: { store: string; id: string; json?: boolean }) =>
    explain(() =>
      withDatabase(async ({ database, now, settled }) => {
        const { id: storeId } = await requireStore(database, options.store)
        const revoked = await revokeKey(database, now, storeId, options.id)
        await settled()
        console.log(
          options.json ? JSON.stringify(revoked) : `${revoked.id} is revoked since ${revoked.revokedAt}`,
        )
      }),
    ),
  )

await runProgram(program)

interface CreateOptions {
  store: string
  member: string
  scopes: string
  name?: string
  env: 'live' | 'test'
  expires?: Expiry
  json?: boolean
}

function createdText({ id, key, scopes, expiresAt: until }: CreatedKey): string {
  const end = until ? `until ${until}` : 'without an end'
  return `${key}\nThe key is shown this once. Id ${id}, ${scopes.join(', ')}, ${end}.`
}

function listText(keys: ListedKey[], now: Date): string {
  if (keys.length === 0) return 'The store has no keys.'
  return keys
    .map((key) =>
      [key.id, `${key.prefix}…`, stateOf(key, now), key.member, key.scopes.join(','), key.name].join('  '),
    )
    .join('\n')
}

function stateOf({ revokedAt, expiresAt: until }: ListedKey, now: Date): string {
  if (revokedAt) return 'revoked'
  return until && now >= new Date(until) ? 'expired' : 'active'
}
