/** The policy pack. */
import { PolicyPack } from "@pulumi/policy";
import { policies } from "./policies";

new PolicyPack("compute-guard-rails", { policies });
