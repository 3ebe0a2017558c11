/** Rotation of `SECRET_KEY`: data of the previous key stays valid, and new data uses the new one. */
import { expect, test } from 'vitest'
import * as unsubscribes from '#operations/capture/subscribers/unsubscribes'
import { issueSession, requireSession } from '#operations/exchanges/shopper/session'
import { createConfirmToken } from '#operations/reviews/submitting/confirm'
import { findSentToken, invitationToken } from '#operations/store/team/invitations'
import { issueToken, isTrapped } from '#operations/storefront/visits/tokens'
import type { Context } from '#runtime/context'
import { diskFiles, diskStorage } from '#runtime/ports/storage/disk'
import { deriveSecrets, hasValidSignature, listValidSignatures, seal, sign, unseal } from '#runtime/secrets'
import { readSettings } from '#runtime/server/settings'
import { sha256 } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const old = { secretKey: 'the old secret of the server, 32 characters', previousSecretKey: null }
const rotated = { secretKey: 'the new secret of the server, 32 characters', previousSecretKey: old.secretKey }
const forgotten = { ...rotated, previousSecretKey: null }

test('the previous key decrypts its data; new data is decrypted without it', () => {
  const sealed = seal(old, 'store:port', { token: 'x' })
  expect(unseal(rotated, 'store:port', sealed)).toEqual({ token: 'x' })
  expect(() => unseal(rotated, 'another:port', sealed)).toThrow('SECRET_KEY_PREVIOUS')
  expect(() => unseal(forgotten, 'store:port', sealed)).toThrow('set SECRET_KEY_PREVIOUS to the one before')
  expect(unseal(forgotten, 'store:port', seal(rotated, 'store:port', [1]))).toEqual([1])
})

test('signatures of the previous key are valid, and new ones use the new key', () => {
  expect(hasValidSignature(rotated, 'links', 'a', sign(old, 'links', 'a'))).toBe(true)
  expect(hasValidSignature(rotated, 'links', 'b', sign(old, 'links', 'a'))).toBe(false)
  expect(hasValidSignature(rotated, 'others', 'a', sign(old, 'links', 'a'))).toBe(false)
  expect(hasValidSignature(forgotten, 'links', 'a', sign(old, 'links', 'a'))).toBe(false)
  expect(sign(rotated, 'links', 'a')).toBe(sign(forgotten, 'links', 'a'))
  expect(listValidSignatures(rotated, 'links', 'a')).toEqual([
    sign(forgotten, 'links', 'a'),
    sign(old, 'links', 'a'),
  ])
})

test('existing links of people stay valid', async () => {
  const app = await testApp()
  const shop = await store(app)
  const ctx = await shop.context()
  const holding = (keys: typeof rotated | typeof forgotten): Context =>
    Object.create(ctx, { settings: { value: { ...ctx.settings, ...keys } } }) as Context
  const [before, after, without] = [holding(old as never), holding(rotated), holding(forgotten)]

  const session = issueSession(before, 'order-1')
  expect(requireSession(after, session)).toBe('order-1')
  expect(() => requireSession(without, session)).toThrow('not valid any more')
  const token = issueToken(before, 'form')
  expect(isTrapped(after, 'form', { token })).toBe(true)
  expect(() => isTrapped(without, 'form', { token })).toThrow('not valid any more')
  const leaving = new URL(unsubscribes.buildLink(before, 'topic', 'a@b.example')).searchParams.get('token')!
  expect(unsubscribes.parseToken(after, leaving)).toEqual({ topic: 'topic', subject: 'a@b.example' })
  expect(unsubscribes.parseToken(without, leaving)).toBeNull()
  expect(createConfirmToken(after, 'x')).toBe(createConfirmToken(without, 'x'))
  // An invitation whose email is sent after the rotation: its row has the hash of the old token.
  const invited = invitationToken(old, 'invitation')
  expect(findSentToken(rotated, 'invitation', sha256(invited))).toBe(invited)
  expect(() => findSentToken(forgotten, 'invitation', sha256(invited))).toThrow('SECRET_KEY_PREVIOUS')
})

test('links to files stay valid', async () => {
  const app = await testApp()
  const at = (keys: typeof rotated | typeof forgotten) => ({
    dir: `${app.dataDir}/rotated`,
    publicUrl: 'http://localhost',
    secrets: deriveSecrets(keys, 'files'),
    clock: app.clock,
  })
  const storage = diskStorage(at(old as never))
  await storage.write('a/b', Buffer.from('text'), { contentType: 'text/plain', visibility: 'private' })
  const { url } = await storage.signDownload('a/b', 60)
  const status = async (keys: typeof rotated | typeof forgotten) =>
    (await diskFiles(at(keys))(new Request(url))).status
  expect([await status(rotated), await status(forgotten)]).toEqual([200, 403])
})

test('the setting is read, and has the length of a secret', async () => {
  const env = { SECRET_KEY: rotated.secretKey, DATA_DIR: '/tmp' }
  expect((await readSettings(env)).previousSecretKey).toBeNull()
  const rotating = await readSettings({ ...env, SECRET_KEY_PREVIOUS: old.secretKey })
  expect(rotating.previousSecretKey).toBe(old.secretKey)
  await expect(readSettings({ ...env, SECRET_KEY_PREVIOUS: 'short' })).rejects.toThrow('SECRET_KEY_PREVIOUS')
  await expect(readSettings({ ...env, REQUEST_TIMEOUT_MS: '15000' })).rejects.toThrow('REQUEST_TIMEOUT_MS')
})
