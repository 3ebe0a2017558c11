/** How long the first look at a pooler waits for its connections. */
import { connect, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { allWithin } from '#db/postgres/sessions'
import { whenFileEnds } from '#test/support/closing'

const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

test('a process that stood still itself hears what came meanwhile', async () => {
  const server = createServer((socket) => void socket.end('there'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(() => void server.close())
  const { port } = server.address() as { port: number }
  const answer = (): Promise<void> =>
    new Promise((resolve, reject) => {
      connect(port, '127.0.0.1')
        .once('data', () => resolve())
        .once('error', reject)
    })
  const waited = allWithin(100, [answer(), answer(), answer()])
  standStill(400)
  await waited
})

test('one that never answers is given up, and counted', async () => {
  const never = new Promise<void>(() => undefined)
  await expect(allWithin(100, [Promise.resolve(), never, never])).rejects.toThrow('1 of 3 connections')
})

test('a refusal is told as it is', async () => {
  const refused = Promise.reject(new Error('password authentication failed'))
  await expect(allWithin(100, [Promise.resolve(), refused])).rejects.toThrow('password')
})
