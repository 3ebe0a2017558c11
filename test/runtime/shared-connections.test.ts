/** Selection of the shared connection for a single statement. */
import { expect, test } from 'vitest'
import type { Connection } from '#db/postgres/connection'
import { SharedConnections } from '#db/postgres/shared'

const answering = { silentFor: 0, isGone: false, isWorn: false, wasReady: true, movedAt: 0 }

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
    Object.assign(group.choose(), { open: 1000 + connections.indexOf(connection) })
  for (const [at, connection] of connections.entries()) Object.assign(connection, { open: before[at] })
  return { connections, group, watch, opened }
}

test('statements share one connection while it is little busier than the least busy one', () => {
  const { connections, group } = buildShared([{ open: 0 }, { open: 2 }])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { open: 3 })
  expect(group.choose()).toBe(connections[0])
})

test('no statement waits behind one that takes seconds while another connection answers, however busy that is', () => {
  const { connections, group } = buildShared([
    { open: 1, silentFor: 2 },
    { open: 40, silentFor: 1 },
    { open: 1, silentFor: 9 },
  ])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { silentFor: 2 })
  Object.assign(connections[0]!, { open: 0, silentFor: 0 })
  expect(group.choose()).toBe(connections[0])
})

test('a lost or worn connection is replaced', () => {
  const { connections, group, opened } = buildShared([{ open: 0 }])
  expect(group.choose()).toBe(connections[0])
  for (const change of [{ isGone: true }, { isWorn: true }] as const) {
    Object.assign(group.choose(), change)
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
