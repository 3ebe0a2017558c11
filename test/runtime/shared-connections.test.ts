/** Which of its connections a lone statement is put on. */
import { expect, test } from 'vitest'
import type { Connection } from '#db/postgres/connection'
import { SharedConnections } from '#db/postgres/shared'

const answering = { silentFor: 0, isGone: false, isWorn: false, wasReady: true, movedAt: 0 }

/** Connections with so many statements open, which have heard nothing for so many ticks. */
function shared(states: readonly ({ open: number } & Partial<Connection>)[], aheadAtMost = 2) {
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
  // So that each is open.
  const before = connections.map(({ open }) => open)
  for (const connection of connections)
    Object.assign(group.choose(), { open: 1000 + connections.indexOf(connection) })
  for (const [at, connection] of connections.entries()) Object.assign(connection, { open: before[at] })
  return { connections, group, watch, opened }
}

test('statements gather on one while it has little more to do than the idlest', () => {
  const { connections, group } = shared([{ open: 0 }, { open: 2 }])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { open: 3 })
  expect(group.choose()).toBe(connections[0])
})

test('nobody is put behind one that takes seconds while another answers, however much that has to do', () => {
  const { connections, group } = shared([
    { open: 1, silentFor: 2 },
    { open: 40, silentFor: 1 },
    { open: 1, silentFor: 9 },
  ])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { silentFor: 2 })
  Object.assign(connections[0]!, { open: 0, silentFor: 0 })
  expect(group.choose()).toBe(connections[0])
})

test('another one takes the place of one that was lost, or is worn', () => {
  const { connections, group, opened } = shared([{ open: 0 }])
  expect(group.choose()).toBe(connections[0])
  for (const change of [{ isGone: true }, { isWorn: true }] as const) {
    Object.assign(group.choose(), change)
    expect(group.choose()).toBe(opened.at(-1))
    expect(group.choose()).not.toMatchObject(change)
  }
})

test('one that could not connect is tried again a while later, or where no other is there', () => {
  const { connections, group, watch, opened } = shared([{ open: 50 }, { open: 0 }])
  expect(group.choose()).toBe(connections[1])
  Object.assign(connections[1]!, { isGone: true, wasReady: false })
  expect(group.choose()).toBe(connections[0])
  watch.tick = 5
  expect(group.choose()).toBe(opened[2])
  for (const each of [connections[0]!, opened[2]!])
    Object.assign(each, { isGone: true, wasReady: false, movedAt: 5 })
  expect(group.choose()).toBe(opened[3])
})
