import { expect, test } from 'vitest'
import { createAnswers } from './answers.ts'

/** Answers by a timer that the test moves: one each second, as the engine asks. */
function answersOf(leaseSeconds: number) {
  let at = 1_000_000
  const answers = createAnswers(leaseSeconds * 1000, () => at)
  const pass = (seconds: number) => {
    at += seconds * 1000
  }
  const answer = (times: number, everySeconds = 1) => {
    for (let n = 0; n < times; n++) {
      answers.answered()
      pass(everySeconds)
    }
  }
  return { ...answers, pass, answer, leftSeconds: () => answers.leftMs() / 1000 }
}

test('a process that has just started waits for a whole lease', () => {
  const answers = answersOf(30)
  expect(answers.leftSeconds()).toBe(30)
  answers.answer(30)
  expect(answers.leftSeconds()).toBe(1)
  answers.answer(1)
  expect(answers.leftSeconds()).toBe(0)
})

test('time counts only between two answers, not since the last one', () => {
  const answers = answersOf(3)
  answers.answer(1)
  answers.pass(1)
  expect(answers.leftSeconds()).toBe(3)
})

test('a failed answer begins a new lease', () => {
  const answers = answersOf(30)
  answers.answer(31)
  answers.failed()
  expect(answers.leftSeconds()).toBe(30)
  answers.answer(30)
  expect(answers.leftSeconds()).toBe(1)
})

test.each([
  { lease: 30, gap: 5 },
  { lease: 6, gap: 3 },
  { lease: 1, gap: 2 },
])('with a lease of $lease s, answers up to $gap s apart are one stretch, later ones are not', ({ lease, gap }) => {
  const answers = answersOf(lease)
  answers.answer(Math.ceil(lease / gap) + 1, gap)
  expect(answers.leftSeconds()).toBe(0)
  answers.pass(0.001)
  expect(answers.leftSeconds()).toBe(lease)
  answers.answered()
  expect(answers.leftSeconds()).toBe(lease)
})
