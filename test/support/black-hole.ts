/** A proxy to the database that can fall silent, like a stopped server or a network that drops packets. */
import { connect, createServer, type Socket } from 'node:net'
import { whenFileEnds } from './closing.ts'

export interface BlackHole {
  /** The database's address through the proxy. */
  url: string
  /** Stops all traffic in both directions; connections are accepted, but not answered. */
  silence(): void
  /** Forwards everything that was held back. */
  speak(): void
  /** From now on closes each connection right after the server's `ReadyForQuery`, before any answer. */
  endWhenReady(): void
  /** Closes connections beyond this number, and refuses new ones like PostgreSQL without free connections. */
  allowOnly(connections: number): void
  connections(): number
}

/** `ReadyForQuery`, outside a transaction. */
const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** The packet of a server without free connections. */
function tooMany(): Buffer {
  const fields = 'SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0'
  const packet = Buffer.alloc(5 + fields.length)
  packet.write('E', 0)
  packet.writeInt32BE(4 + fields.length, 1)
  packet.write(fields, 5)
  return packet
}

export async function blackHole(databaseUrl: string): Promise<BlackHole> {
  const there = new URL(databaseUrl)
  const pairs = new Map<Socket, Socket>()
  let isSilent = false
  let endsWhenReady = false
  let allowed = Number.POSITIVE_INFINITY
  const server = createServer({ allowHalfOpen: true }, (near) => {
    near.on('error', () => near.destroy())
    if (pairs.size >= allowed) {
      near.once('data', () => near.end(tooMany()))
      return
    }
    const far = connect({ port: Number(there.port), host: there.hostname, allowHalfOpen: true })
    pairs.set(near, far)
    const end = (): void => {
      pairs.delete(near)
      near.destroy()
      far.destroy()
    }
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => {
        to.write(bytes)
        if (endsWhenReady && from === far && bytes.includes(ready)) end()
      })
      from.on('end', () => (isSilent ? undefined : to.end()))
      from.on('error', end)
      from.on('close', () => (isSilent ? undefined : end()))
      if (isSilent) from.pause()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as { port: number }).port)
  const all = (): Socket[] => [...pairs].flat()
  whenFileEnds(() => {
    for (const socket of all()) socket.destroy()
    server.close()
  })
  return {
    url: url.href,
    silence() {
      isSilent = true
      for (const socket of all()) socket.pause()
    },
    speak() {
      isSilent = false
      for (const socket of all()) socket.resume()
    },
    endWhenReady() {
      endsWhenReady = true
    },
    allowOnly(connections) {
      allowed = connections
      for (const [near, far] of [...pairs].slice(connections)) {
        near.destroy()
        far.destroy()
      }
    },
    connections: () => pairs.size,
  }
}
