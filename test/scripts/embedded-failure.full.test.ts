/**
 * A server whose embedded database has failed: it exits with a message, and committed data is there after a restart.
 */
import { expect, inject, test } from 'vitest'
import { socketPath } from '#db/embedded/socket'
import { openPostgres } from '#db/open'
import { call, prepareServer, start } from '#test/support/processes'
import { store } from '#test/support/store'

test.skipIf(!inject('snapshot'))('the server exits as after a crash, and starts again', async () => {
  const { env, filled: key } = await prepareServer(async (app) => (await store(app)).key)
  const server = await start('scripts/start.ts', env)
  let output = ''
  server.child.stdout!.on('data', (chunk) => {
    output += chunk
  })
  server.child.stderr!.on('data', (chunk) => {
    output += chunk
  })
  const made = await call(server.url, key, 'POST', '/v1/campaigns/lists', { name: 'Before it' })
  expect(made.status).toBe(201)

  // Exceeds JavaScript's stack, which a request cannot do.
  const beside = openPostgres('postgres://postgres@localhost/postgres', {
    reads: 1,
    transactions: 1,
    socket: socketPath(env.DATA_DIR!),
  })
  await expect(
    beside.script(`set max_stack_depth = '2MB';
      create function endless(n int) returns int language plpgsql as $$ begin return endless(n + 1); end $$;
      select endless(1)`),
  ).rejects.toThrow()
  expect(await server.ended).toBe(1)
  await beside.close()
  expect(output).toContain(
    'The embedded database has failed, and answers nothing more: start the server again',
  )
  expect(output).not.toMatch(/triggerUncaught|unhandled/i)

  const again = await start('scripts/start.ts', env)
  const lists = await call(again.url, key, 'GET', '/v1/campaigns/lists')
  expect(lists.body.data).toMatchObject([{ id: made.body.id, name: 'Before it' }])
  expect((await fetch(`${again.url}/readyz`)).status).toBe(200)
  again.child.kill('SIGTERM')
  expect(await again.ended).toBe(0)
})
