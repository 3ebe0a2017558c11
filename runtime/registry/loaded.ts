/** What the registry found: every operation, job and page, checked and frozen. */
import type { Job } from '#runtime/job'
import type { Operation } from '#runtime/operation'
import type { Page } from '#runtime/page'
import type { Role } from '#runtime/roles'
import type { Section } from '#runtime/section'
import type { AnyPoint, Given, Wired } from '#runtime/wiring'

export interface LoadedOperation {
  readonly id: string
  readonly file: string
  readonly section: Section
  readonly spec: Operation['spec']
  readonly minimumRole: Role
  /** Names of the path's parameters, in its order. */
  readonly parameters: readonly string[]
}

export interface LoadedPoints {
  readonly file: string
  readonly declared: Readonly<Record<string, AnyPoint>>
}
export interface LoadedWiring {
  readonly file: string
  readonly given: Given
}

export interface Registry {
  /** In the order of the documents. */
  readonly operations: readonly LoadedOperation[]
  readonly jobs: readonly Job[]
  readonly pages: readonly Page[]
  readonly sections: readonly Section[]
  /** What sections give each other, and where it comes from. */
  readonly wired: Wired
  readonly points: readonly LoadedPoints[]
  readonly wirings: readonly LoadedWiring[]
  byId(id: string): LoadedOperation | undefined
}
