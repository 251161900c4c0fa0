/** G1, G2, G3 in histories at random, from fixed seeds. */
import { playHistories } from "./promises";

playHistories(1, 10_000);
