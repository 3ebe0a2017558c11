/** Connections for single statements: which one is chosen, and who waits. */
import { expect, test } from 'vitest'
import type { Connection } from '#db/postgres/connection'
import { type Owner, Room } from '#db/postgres/room'
import { SharedConnections } from '#db/postgres/shared'

const answering = {
  isStuck: false,
  isLive: true,
  isGone: false,
  isWorn: false,
  wasReady: true,
  movedAt: 0,
  ready: Promise.resolve(),
  leave: () => {},
}

/** Connections with so many open statements, and so many silent ticks. */
function buildShared(states: readonly ({ open: number } & Partial<Connection>)[], aheadAtMost = 2) {
  const connections = states.map((state) => ({ ...answering, ...state }) as Connection)
  const rest = [...connections]
  const watch = { tick: 0 }
  const opened: Connection[] = []
  const group = new SharedConnections({
    count: connections.length,
    open: () => {
      opened.push(rest.shift() ?? ({ ...answering, open: 0 } as Connection))
      return opened.at(-1)!
    },
    watch,
    restTicks: 5,
    aheadAtMost,
  })
  // Opens each of them.
  const before = connections.map(({ open }) => open)
  for (const connection of connections)
    Object.assign(group.choose()!, { open: 1000 + connections.indexOf(connection) })
  for (const [at, connection] of connections.entries()) Object.assign(connection, { open: before[at] })
  return { connections, group, watch, opened }
}

test('statements share one connection while it is little busier than the least busy one', () => {
  const { connections, group } = buildShared([{ open: 0 }, { open: 2 }])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { open: 3 })
  expect(group.choose()).toBe(connections[0])
})

test('no statement waits behind a slow one while another connection answers, however busy that is', () => {
  const { connections, group } = buildShared([
    { open: 1, isStuck: true },
    { open: 40 },
    { open: 1, isStuck: true },
  ])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { isStuck: true })
  expect(group.choose()).toBeNull()
  Object.assign(connections[0]!, { open: 0, isStuck: false })
  expect(group.choose()).toBe(connections[0])
})

test('a lost or worn connection is replaced', () => {
  const { connections, group, opened } = buildShared([{ open: 0 }])
  expect(group.choose()).toBe(connections[0])
  for (const change of [{ isGone: true }, { isWorn: true }] as const) {
    Object.assign(group.choose()!, change)
    expect(group.choose()).toBe(opened.at(-1))
    expect(group.choose()).not.toMatchObject(change)
  }
})

test('a connection that failed to connect is retried later, or if there is no other', () => {
  const { connections, group, watch, opened } = buildShared([{ open: 50 }, { open: 0 }])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { isGone: true, wasReady: false })
  expect(group.choose()).toBe(connections[0])
  watch.tick = 5
  expect(group.choose()).toBe(opened[2])
  for (const each of [connections[0]!, opened[2]!])
    Object.assign(each, { isGone: true, wasReady: false, movedAt: 5 })
  expect(group.choose()).toBe(opened[3])
})

/** A room, with the names of those who got a connection, and functions that give them back. */
function buildRoom(count: number) {
  const watch = { tick: 0 }
  const room = new Room({
    count,
    open: () => ({ ...answering, open: 0 }) as unknown as Connection,
    watch,
    patience: { request: 3, long: 30 },
    restTicks: 5,
  })
  const served: string[] = []
  const give = new Map<string, () => void>()
  const take = (name: string, owner: Owner, text?: string): Promise<void> =>
    room.take({ workload: 'request', owner, ...(text ? { text } : {}) }).then((connection) => {
      served.push(name)
      give.set(name, () => room.give(connection))
    })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  return { room, watch, served, give, take, settle }
}

test('a store, and all jobs together, hold at most half of a room; who waits is served in order', async () => {
  const { served, give, take, settle } = buildRoom(6)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void take(name, 'a')
  for (const name of ['j1', 'j2', 'j3']) void take(name, 'jobs')
  for (const name of ['all1', 'all2']) void take(name, null)
  await settle()
  // The last connection is for what everybody needs.
  expect(served).toEqual(['a1', 'a2', 'a3', 'j1', 'j2', 'all1'])
  give.get('a1')!()
  await settle()
  expect(served.slice(6)).toEqual(['a4'])
  give.get('all1')!()
  await settle()
  expect(served.slice(7)).toEqual(['all2'])
  give.get('j1')!()
  await settle()
  expect(served.slice(8)).toEqual(['j3'])
})

test('the same statement for many stores holds at most half of a room', async () => {
  const { served, take, settle } = buildRoom(4)
  for (const name of ['a', 'b', 'c']) void take(name, name, 'select from locked')
  void take('d', 'd', 'select from another')
  await settle()
  expect(served).toEqual(['a', 'b', 'd'])
})

test('one connection serves everybody in turn, and who waits too long is refused', async () => {
  const { room, watch, served, give, take, settle } = buildRoom(1)
  const [, second, third] = [take('first', 'a'), take('second', 'a'), take('third', 'b')]
  await settle()
  expect(served).toEqual(['first'])
  give.get('first')!()
  await second
  watch.tick = 3
  room.refuseLate()
  await expect(third).rejects.toThrow('No connection to the database became free in time')
  expect(room.load).toEqual({ busy: 1, waiting: 0 })
})
