/**
 * Startup messages: for error codes of the system, the driver and PostgreSQL, a sentence that names the setting and the
 * remedy.
 */
import { ConnectionLost, DatabaseUnresponsive } from '#db/deadlines'
import { describeAddress } from '#db/postgres/address'

type Message<Of> = (of: Of, error: NodeJS.ErrnoException) => string
type Messages<Of> = Readonly<Record<string, Message<Of>>>
interface Listening {
  host: string
  port: number
}

const listenMessages: Messages<Listening> = {
  EADDRINUSE: ({ host, port }) =>
    `PORT: ${port} on ${host} is taken by another program: choose another PORT, or 0 for a free one`,
  EACCES: ({ port }) =>
    `PORT: ${port} is kept for privileged programs: choose one from 1024 on, and let a proxy pass ${port} on to it`,
  EADDRNOTAVAIL: ({ host }) =>
    `HOST: ${host} is no address of this machine: choose one that it has, 127.0.0.1, or 0.0.0.0 for all of them`,
  ENOTFOUND: ({ host }) =>
    `HOST: ${host} is not known here: give an address of this machine, such as 127.0.0.1`,
}

interface ServerAddress {
  /** The server's host and port, or the file of its socket. */
  place: string
  user: string
  database: string
}

const unreachable: Message<ServerAddress> = ({ place }, { message }) =>
  `DATABASE_URL: nothing answers at ${place}: start PostgreSQL there, or give the host and port where it listens (${message})`
const unknownHost: Message<ServerAddress> = ({ place }) =>
  `DATABASE_URL: the host ${place.replace(/:\d+(?=,|$)/g, '')} is not known: look for a mistake in its name, or whether this machine can resolve it`
const refused: Message<ServerAddress> = ({ place, user }, { message }) =>
  `DATABASE_URL: ${place} refuses the user ${user}: look at user and password (${message})`
const wantsTls: Message<ServerAddress> = ({ place, user }, { message }) =>
  `DATABASE_URL: ${place} lets ${user} in with TLS only, or not from here: add sslmode=require to the address (${message})`
const untrusted: Message<ServerAddress> = ({ place }, { message }) =>
  `DATABASE_URL: the certificate of ${place} is not trusted: give its authority's file by sslrootcert, or by NODE_EXTRA_CA_CERTS (${message})`

/** Limits a message to errors of connecting, since other system calls report a missing or forbidden file too. */
const onlyForSockets =
  (sentence: Message<ServerAddress>): Message<ServerAddress> =>
  (server, error) =>
    error.syscall === 'connect' ? sentence(server, error) : ''
const noSocket = onlyForSockets(
  ({ place }, { message }) =>
    `DATABASE_URL: there is no socket ${place}: start PostgreSQL there, or give the folder that its unix_socket_directories names (${message})`,
)

const connectMessages: Messages<ServerAddress> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  CONNECT_TIMEOUT: unreachable,
  CONNECTION_CLOSED: unreachable,
  ENOENT: noSocket,
  ENOTDIR: noSocket,
  EINVAL: noSocket, // the socket's path is too long
  EAGAIN: onlyForSockets(unreachable),
  EACCES: onlyForSockets(
    ({ place }) =>
      `DATABASE_URL: the socket ${place} is not for this user: let it into the folder, or give host and port`,
  ),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  NO_TLS: ({ place }) =>
    `DATABASE_URL: ${place} has no TLS: turn ssl on there, or ask for none by sslmode=disable`,
  '28P01': refused,
  '28000': (server, error) =>
    /no encryption/.test(error.message) ? wantsTls(server, error) : refused(server, error),
  '3D000': ({ place, database }) =>
    `DATABASE_URL: ${place} has no database ${database}: make it (createdb), or name one that is there`,
  '42501': ({ user }, { message }) =>
    `DATABASE_URL: the user ${user} may not do what is needed: let it own the database (${message})`,
  // 42704 is also the code of other missing objects, such as an extension, which do not concern the address.
  '42704': (_, { message }) =>
    /^unrecognized configuration parameter/.test(message)
      ? `DATABASE_URL: ${message}: leave it out of the address`
      : '',
  '53300': ({ place }) =>
    `DATABASE_URL: ${place} has no connection left: raise its max_connections, or lower DATABASE_READS and DATABASE_TRANSACTIONS`,
  '57P03': ({ place }) => `DATABASE_URL: ${place} is starting or stopping: try again in a moment`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
}

function findMessage<Of>(sentences: Messages<Of>, of: Of, error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException
  return (typeof code === 'string' && sentences[code]?.(of, error as NodeJS.ErrnoException)) || null
}

/** Describes why the server cannot listen, in one sentence for the operator; null if the error is unknown. */
export const describeListenError = (error: unknown, at: Listening): string | null =>
  findMessage(listenMessages, at, error)

export const describeConnectError = (error: unknown, databaseUrl: string): string | null =>
  findMessage(connectMessages, describeAddress(databaseUrl), error)

/** Codes of a connection that was lost while a command was running. */
const lostCodes: readonly unknown[] = [
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
]
export function describeConnectionLoss(error: unknown): string | null {
  const { code, syscall, address } = error as { code?: unknown; syscall?: string; address?: string }
  const isEmbedded = syscall === 'connect' && address?.endsWith('/db.sock')
  const isLost = error instanceof DatabaseUnresponsive || error instanceof ConnectionLost
  if (!isLost && !lostCodes.includes(code) && !isEmbedded) return null
  return 'The database went away before this was done: see that its server runs, look at what was done, and run it again'
}
