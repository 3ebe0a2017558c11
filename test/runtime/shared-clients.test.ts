/** Which of its connections a single statement is put on. */
import { expect, test } from 'vitest'
import { type Client, SharedClients } from '#db/postgres/client'

/** Clients that have so many statements open, and have heard nothing for so many turns. */
function shared(states: readonly { open: number; silentFor: number }[], aheadAtMost?: number) {
  const clients = states.map((state) => ({ ...state, isFailing: false })) as unknown as Client[]
  const rest = [...clients]
  return { clients, group: new SharedClients(clients.length, () => rest.shift()!, aheadAtMost) }
}

test('statements gather on one while it has little more to do than the idlest', () => {
  const { clients, group } = shared([
    { open: 2, silentFor: 0 },
    { open: 0, silentFor: 0 },
  ])
  expect(group.choose()).toBe(clients[0])
  Object.assign(clients[0]!, { open: 3 })
  expect(group.choose()).toBe(clients[1])
})

test('nobody is put behind one that takes seconds while another answers, however much that has to do', () => {
  const { clients, group } = shared([
    { open: 1, silentFor: 2 },
    { open: 40, silentFor: 1 },
    { open: 1, silentFor: 9 },
  ])
  expect(group.choose()).toBe(clients[1])
  // It may be that all of them do.
  Object.assign(clients[1]!, { silentFor: 2 })
  Object.assign(clients[0]!, { open: 0, silentFor: 0 })
  expect(group.choose()).toBe(clients[0])
})
