/** `npm run move`: the embedded database moves to PostgreSQL, or to a cluster, completely. */
import { expect, inject, test } from 'vitest'
import { readTopology } from '#db/citus/topology'
import { openPostgres } from '#db/open'
import { backupProgram } from '#scripts/backup'
import { keysProgram } from '#scripts/keys'
import { moveProgram } from '#scripts/move'
import { whenFileEnds } from '#test/support/closing'
import { createDatabase, dropDatabase, withDatabase } from '#test/support/cluster'
import { run } from '#test/support/command'
import { call, start } from '#test/support/processes'
import { newFolder, readSums } from './databases.ts'

const nodes = inject('nodes')
const isCluster = nodes.length > 1

test.runIf(inject('postgresUrl'))(
  'the embedded database moves to PostgreSQL, and to a cluster, where it is distributed',
  async () => {
    const dataDir = newFolder()
    const embedded = { DATA_DIR: dataDir, DATABASE_URL: '', LOG_LEVEL: 'warn' }
    const first = await start('scripts/start.ts', embedded)
    const made = await run(
      keysProgram,
      [
        'create',
        '--store',
        'aurora-supply',
        '--member',
        'olivia@aurora.example',
        '--scopes',
        'platform:read,platform:write',
        '--json',
      ],
      { env: embedded },
    )
    const { key } = JSON.parse(made.out) as { key: string }
    first.child.kill('SIGKILL')
    await first.ended

    const name = `merchant_moved_${process.pid}`
    await createDatabase(nodes, name)
    whenFileEnds(() => dropDatabase(nodes, name))
    const url = withDatabase(nodes[0]!, name)
    const before = await readSums({ DATA_DIR: dataDir })
    const moved = await run(moveProgram, [], { env: { DATA_DIR: dataDir, DATABASE_URL: url } })
    expect(moved).toMatchObject({ code: 0, out: expect.stringMatching(/^Moved: \d+ tables, \d+ rows/) })
    if (isCluster) {
      const database = openPostgres(url)
      expect(await readTopology(database)).toEqual({ isDistributed: true, isUnfinished: false, missing: [] })
      await database.close()
    } else expect(await readSums({ DATABASE_URL: url })).toEqual(before)
    const server = await start('scripts/start.ts', {
      DATA_DIR: dataDir,
      DATABASE_URL: url,
      LOG_LEVEL: 'warn',
    })
    expect((await call(server.url, key, 'GET', '/v1/campaigns')).status).toBe(200)
    expect((await call(server.url, key, 'POST', '/v1/campaigns/lists', { name: 'After' })).status).toBe(201)
    server.child.kill('SIGKILL')
    await server.ended
    const again = await run(moveProgram, [], { env: { DATA_DIR: dataDir, DATABASE_URL: url } })
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        isCluster ? /distributed already/ : /There are stores in this database already/,
      ),
    })
    if (!isCluster) return
    expect(
      (await run(backupProgram, [newFolder()], { env: { DATA_DIR: dataDir, DATABASE_URL: url } })).err,
    ).toMatch(/names a Citus cluster/)
  },
)
