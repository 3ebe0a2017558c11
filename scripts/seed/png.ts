/** A picture of the demo's as a file that merchants could have uploaded. */
import { crc32, deflateSync } from 'node:zlib'
import type { Form } from '#operations/sandbox/pictures/motifs'
import { type Picture, shapesOf } from '#operations/sandbox/pictures/picture'

const { abs, max, min, sqrt } = Math
/** A fifth of the time of `Math.hypot`, which minds numbers that no picture has. */
const hypot = (x: number, y: number): number => sqrt(x * x + y * y)

/** How far a point is from the edge: below zero within. */
function distance(form: Form, x: number, y: number): number {
  switch (form[0]) {
    case 'box': {
      const [, left, top, width, height, radius] = form
      const across = abs(x - left - width / 2) - width / 2 + radius
      const down = abs(y - top - height / 2) - height / 2 + radius
      return hypot(max(across, 0), max(down, 0)) + min(max(across, down), 0) - radius
    }
    case 'oval':
      return toOval(form[3], form[4], x - form[1], y - form[2])
    case 'ring':
      return abs(toOval(form[3], form[4], x - form[1], y - form[2])) - form[5] / 2
    case 'line': {
      const [, x1, y1, x2, y2, thickness] = form
      return toLine(x1, y1, x2, y2, x, y) - thickness / 2
    }
    case 'area': {
      const [, ...points] = form
      let nearest = Number.POSITIVE_INFINITY
      let isWithin = false
      for (let at = 0; at < points.length; at += 2) {
        const [x1, y1] = [points[at]!, points[at + 1]!]
        const [x2, y2] = [points[(at + 2) % points.length]!, points[(at + 3) % points.length]!]
        nearest = min(nearest, toLine(x1, y1, x2, y2, x, y))
        if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) isWithin = !isWithin
      }
      return isWithin ? -nearest : nearest
    }
  }
}

/** Near enough where it counts, at the edge. */
function toOval(radiusX: number, radiusY: number, x: number, y: number): number {
  const share = hypot(x / radiusX, y / radiusY)
  const slope = hypot(x / radiusX ** 2, y / radiusY ** 2)
  return slope === 0 ? -min(radiusX, radiusY) : (share * (share - 1)) / slope
}

function toLine(x1: number, y1: number, x2: number, y2: number, x: number, y: number): number {
  const [across, down] = [x2 - x1, y2 - y1]
  const share = max(0, min(1, ((x - x1) * across + (y - y1) * down) / (across ** 2 + down ** 2 || 1)))
  return hypot(x - x1 - share * across, y - y1 - share * down)
}

/** What a form may reach: left, top, right and bottom. */
function boundsOf(form: Form): readonly [number, number, number, number] {
  switch (form[0]) {
    case 'box':
      return [form[1], form[2], form[1] + form[3], form[2] + form[4]]
    case 'oval':
      return [form[1] - form[3], form[2] - form[4], form[1] + form[3], form[2] + form[4]]
    case 'ring': {
      const [, x, y, radiusX, radiusY, thickness] = form
      return [
        x - radiusX - thickness,
        y - radiusY - thickness,
        x + radiusX + thickness,
        y + radiusY + thickness,
      ]
    }
    case 'line': {
      const [, x1, y1, x2, y2, t] = form
      return [min(x1, x2) - t, min(y1, y2) - t, max(x1, x2) + t, max(y1, y2) + t]
    }
    case 'area': {
      const [, ...points] = form
      const [xs, ys] = [0, 1].map((odd) => points.filter((_each, at) => at % 2 === odd)) as [
        number[],
        number[],
      ]
      return [min(...xs), min(...ys), max(...xs), max(...ys)]
    }
  }
}

const channels = 4

function painted(picture: Picture): Uint8Array {
  const { width, height } = picture
  const pixels = new Uint8Array(width * height * channels)
  for (const { form, colour } of shapesOf(picture)) {
    const ink = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16))
    const [left, top, right, bottom] = boundsOf(form)
    if (form[0] === 'box' && form[5] === 0) {
      // What has straight edges alone, as all grounds do.
      const row = Buffer.alloc((Math.round(right) - Math.round(left)) * channels, Buffer.from([...ink, 255]))
      for (let y = Math.round(top); y < Math.round(bottom); y += 1)
        pixels.set(row, (y * width + Math.round(left)) * channels)
      continue
    }
    const [from, to] = [max(0, Math.floor(left) - 1), min(width - 1, Math.ceil(right) + 1)]
    for (let y = max(0, Math.floor(top) - 1); y <= min(height - 1, Math.ceil(bottom) + 1); y += 1) {
      for (let x = from; x <= to; x += 1) {
        const share = max(0, min(1, 0.5 - distance(form, x + 0.5, y + 0.5)))
        if (share > 0) blend(pixels, (y * width + x) * channels, ink, share)
      }
    }
  }
  return pixels
}

function blend(pixels: Uint8Array, at: number, ink: readonly number[], share: number): void {
  const before = pixels[at + 3]! / 255
  const after = share + before * (1 - share)
  for (const [n, value] of ink.entries())
    pixels[at + n] = Math.round((value * share + pixels[at + n]! * before * (1 - share)) / after)
  pixels[at + 3] = Math.round(after * 255)
}

function chunk(type: string, data: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const whole = Buffer.alloc(named.length + 8)
  whole.writeUInt32BE(data.length, 0)
  named.copy(whole, 4)
  whole.writeUInt32BE(crc32(named), named.length + 4)
  return whole
}

export function pngOf(picture: Picture): Buffer {
  const { width, height } = picture
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // Eight bits of red, green, blue and how dense.
  header.set([8, 6, 0, 0, 0], 8)
  const pixels = painted(picture)
  const row = width * channels
  const lines = Buffer.alloc((row + 1) * height)
  for (let y = 0; y < height; y += 1) lines.set(pixels.subarray(y * row, (y + 1) * row), y * (row + 1) + 1)
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level: 6 })),
    chunk('IEND', new Uint8Array()),
  ])
}
